/* What the programs need of the kernel and of libbpf's headers, written by hand: neither a vmlinux.h of 3 MB nor
 * libbpf-dev is needed to build them. The structs name only the fields that are read; the loader moves each access to
 * where the running kernel has the field (CO-RE). */
#pragma once
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef int s32;
typedef unsigned long long u64;
typedef _Bool bool;

#define SEC(name) __attribute__((section(name), used))
#define __uint(name, val) int(*name)[val]
#define __type(name, val) typeof(val) *name
#define INLINE static inline __attribute__((always_inline))
#define KERNEL __attribute__((preserve_access_index))

enum { MAP_HASH = 1, MAP_PERCPU_HASH = 5, MAP_PERCPU_ARRAY = 6, MAP_STACK_TRACE = 7, MAP_TASK_STORAGE = 29 };

/* Helpers by their numbers (bpf-helpers(7)). */
static void *(*map_get)(void *map, const void *key) = (void *)1;
static long (*map_put)(void *map, const void *key, const void *value, u64 flags) = (void *)2;
static long (*map_del)(void *map, const void *key) = (void *)3;
static u64 (*now_ns)(void) = (void *)5;
static u32 (*this_cpu)(void) = (void *)8;
static long (*stack_id)(void *ctx, void *map, u64 flags) = (void *)27;
static void *(*task_storage_get)(void *map, void *task, void *value, u64 flags) = (void *)156;
static struct task_struct *(*this_task)(void) = (void *)158;

struct kernfs_node { u64 id; } KERNEL;
struct cgroup_subsys_state { struct cgroup *cgroup; struct cgroup_subsys_state *parent; } KERNEL;
struct cgroup { struct cgroup_subsys_state self; struct kernfs_node *kn; } KERNEL;
struct task_group { struct cgroup_subsys_state css; } KERNEL;
struct cfs_rq { int throttle_count; } KERNEL;
struct sched_entity { struct cfs_rq *cfs_rq; } KERNEL;
struct task_struct {
    int pid;
    int tgid;
    struct task_group *sched_task_group;
    struct sched_entity se;
    bool throttled; /* since 6.18 */
    unsigned in_iowait : 1;
} KERNEL;

#define field_exists(field) __builtin_preserve_field_info(field, 2 /* BPF_FIELD_EXISTS */)

/* A bit of a task, wherever the running kernel keeps it. */
INLINE u64 in_iowait(struct task_struct *task)
{
    void *at = (void *)task + __builtin_preserve_field_info(task->in_iowait, 0 /* BYTE_OFFSET */);
    u64 value = 0;
    switch (__builtin_preserve_field_info(task->in_iowait, 1 /* BYTE_SIZE */)) {
    case 1: value = *(u8 *)at; break;
    case 2: value = *(u16 *)at; break;
    case 4: value = *(u32 *)at; break;
    case 8: value = *(u64 *)at; break;
    }
    value <<= __builtin_preserve_field_info(task->in_iowait, 4 /* LSHIFT_U64 */);
    value >>= __builtin_preserve_field_info(task->in_iowait, 5 /* RSHIFT_U64 */);
    return value;
}
