/* What the kernel does for each box while it is the box's turn.
 *
 * A box is a cgroup of the cpu controller, of version 1 or 2: a task's `sched_task_group->css.cgroup` is that of the
 * controller in either. Its number is that of its folder (stat), by which `boxes` has it; cgroups within it belong to it.
 * Only the box counts whose turn it is, and only from then on: what a task began before its turn is no part of it.
 *
 * Build with build.sh. Each program is loaded and attached by itself: see src/lib.rs. */
#include "kernel.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

/* Cgroups below that of a box are not looked for deeper than this. */
#define DEPTH 6
#define SLOTS 40 /* powers of two of nanoseconds: up to 18 min */
#define CALLS 512
#define ASIDES 12

/* In the order of `State`, `Count` and `Aside` in src/lib.rs. */
enum { ON_CPU, RUN_QUEUE, SLEEP, IO_WAIT, UNINTERRUPTIBLE, PREEMPTED, THROTTLED, FROZEN, STOPPED, STATES };
enum { VOLUNTARY, INVOLUNTARY, MIGRATIONS, WAKE_UPS, FORKS, FAULTS, KERNEL_FAULTS, LOST, COUNTS };
enum { TICK = 10, DISK = 11 };

struct histogram { u64 n, ns, slot[SLOTS]; };
struct seen { struct histogram of[STATES]; u64 count[COUNTS]; };
struct timed { u64 n, ns; };
struct task { u64 on, off, ready, entered; u32 turn, state, cpu, call; s32 stack; u32 pad; };
struct by_stack { u32 box, state; s32 stack; u32 pad; };

/* The loader makes those larger that have a place for each box. */
struct { __uint(type, MAP_HASH); __uint(max_entries, 64); __type(key, u64); __type(value, u32); } boxes SEC(".maps");
struct { __uint(type, MAP_HASH); __uint(max_entries, 64); __type(key, u32); __type(value, u32); } left_out SEC(".maps");
struct { __uint(type, MAP_PERCPU_ARRAY); __uint(max_entries, 2); __type(key, u32); __type(value, struct seen); } seen SEC(".maps");
struct { __uint(type, MAP_PERCPU_ARRAY); __uint(max_entries, CALLS); __type(key, u32); __type(value, struct timed); } calls SEC(".maps");
struct { __uint(type, MAP_PERCPU_ARRAY); __uint(max_entries, ASIDES); __type(key, u32); __type(value, struct timed); } asides SEC(".maps");
struct { __uint(type, MAP_PERCPU_ARRAY); __uint(max_entries, ASIDES); __type(key, u32); __type(value, u64); } began SEC(".maps");
struct { __uint(type, MAP_TASK_STORAGE); __uint(map_flags, 1); __type(key, int); __type(value, struct task); } tasks SEC(".maps");
struct { __uint(type, MAP_STACK_TRACE); __uint(max_entries, 16384); __uint(key_size, 4); __uint(value_size, 127 * 8); } stacks SEC(".maps");
struct { __uint(type, MAP_PERCPU_HASH); __uint(max_entries, 16384); __type(key, struct by_stack); __type(value, struct timed); } by_stack SEC(".maps");
struct { __uint(type, MAP_HASH); __uint(max_entries, 4096); __type(key, u64); __type(value, u64); } requests SEC(".maps");

/* Whether waits are told by their stacks; set before loading. */
const volatile u32 with_stacks = 0;
/* Whose turn it is (0: nobody's), and the how many-th turn; written by the controller, both at once. */
volatile struct { u32 box, turn; } now = {0, 0};

/* Whether a task is there to give orders and to tell, as the agent is: its part in a slice is no work. */
INLINE bool is_left_out(struct task_struct *task)
{
    u32 process = task->tgid;
    return map_get(&left_out, &process);
}

/* The number of the box of a task if it is its turn; else 0. */
INLINE u32 box_of(struct task_struct *task)
{
    if (!now.box)
        return 0;
    struct cgroup *at = task->sched_task_group->css.cgroup;
#pragma unroll
    for (int i = 0; i < DEPTH; i++) {
        u64 id = at->kn->id;
        u32 *box = map_get(&boxes, &id);
        if (box)
            return *box == now.box && !is_left_out(task) ? *box : 0;
        struct cgroup_subsys_state *up = at->self.parent;
        if (!up)
            return 0;
        at = up->cgroup;
    }
    return 0;
}

/* What is known of a task since its box's turn began. */
INLINE struct task *known(struct task_struct *task)
{
    struct task *t = task_storage_get(&tasks, task, 0, 1 /* create */);
    if (t && t->turn != now.turn) {
        t->on = t->off = t->ready = t->entered = 0;
        t->turn = now.turn;
    }
    return t;
}

/* The power of two below. */
INLINE u32 log2(u64 v)
{
    u32 r = 0, w = v >> 32;
    if (w) r = 32; else w = v;
    if (w >> 16) { r += 16; w >>= 16; }
    if (w >> 8) { r += 8; w >>= 8; }
    if (w >> 4) { r += 4; w >>= 4; }
    if (w >> 2) { r += 2; w >>= 2; }
    return r + (w >> 1);
}

INLINE void add(struct seen *s, u32 state, u64 ns)
{
    if (state >= STATES)
        return;
    u32 slot = log2(ns);
    if (slot >= SLOTS)
        slot = SLOTS - 1;
    s->of[state].n++;
    s->of[state].ns += ns;
    s->of[state].slot[slot]++;
}

INLINE void add_stack(struct seen *s, u32 box, u32 state, s32 stack, u64 ns)
{
    /* EFAULT: nothing of the kernel is on it. */
    if (stack < 0 && stack != -14) {
        s->count[LOST]++;
        return;
    }
    struct by_stack key = {box, state, stack < 0 ? -1 : stack, 0};
    struct timed *sum = map_get(&by_stack, &key);
    if (!sum) {
        struct timed none = {};
        map_put(&by_stack, &key, &none, 1 /* if it is new */);
        sum = map_get(&by_stack, &key);
    }
    if (sum) {
        sum->n++;
        sum->ns += ns;
    } else {
        s->count[LOST]++;
    }
}

/* Why a task leaves the CPU (include/linux/sched.h). */
INLINE u32 why(struct task_struct *prev, bool preempt, u32 state)
{
    if (preempt || !state) {
        /* Since 6.18 a quota stops tasks one by one; before, whole queues. */
        bool stopped = field_exists(prev->throttled) ? prev->throttled : prev->se.cfs_rq->throttle_count > 0;
        return stopped ? THROTTLED : PREEMPTED;
    }
    if (in_iowait(prev))
        return IO_WAIT;
    if (state & 0x8000)
        return FROZEN;
    if (state & 0x000c)
        return STOPPED;
    return state & 1 ? SLEEP : UNINTERRUPTIBLE;
}

INLINE void leaves(void *ctx, struct task_struct *task, bool preempt, u32 state)
{
    u32 box = task->pid ? box_of(task) : 0;
    struct seen *s = box ? map_get(&seen, &box) : 0;
    struct task *t = s ? known(task) : 0;
    if (!t)
        return;
    u64 at = now_ns();
    u32 left_for = why(task, preempt, state);
    if (t->on)
        add(s, ON_CPU, at - t->on);
    s->count[left_for == PREEMPTED || left_for == THROTTLED ? INVOLUNTARY : VOLUNTARY]++;
    t->on = 0;
    t->off = at;
    t->state = left_for;
    t->cpu = this_cpu();
    t->ready = left_for == PREEMPTED ? at : 0;
    t->stack = with_stacks ? stack_id(ctx, &stacks, 0) : -1;
}

INLINE void comes(struct task_struct *task)
{
    u32 box = task->pid ? box_of(task) : 0;
    struct seen *s = box ? map_get(&seen, &box) : 0;
    struct task *t = s ? known(task) : 0;
    if (!t)
        return;
    u64 at = now_ns();
    if (t->ready)
        add(s, RUN_QUEUE, at - t->ready);
    if (t->off) {
        /* What was waited for, without the wait for a CPU behind it. */
        u64 until = t->state != PREEMPTED && t->ready > t->off ? t->ready : at;
        add(s, t->state, until - t->off);
        if (t->cpu != this_cpu())
            s->count[MIGRATIONS]++;
        if (with_stacks)
            add_stack(s, box, t->state, t->stack, at - t->off);
    }
    t->on = at;
    t->off = 0;
    t->ready = 0;
}

SEC("tp_btf/sched_switch")
int switched(u64 *ctx)
{
    leaves(ctx, (void *)ctx[1], ctx[0], ctx[3]);
    comes((void *)ctx[2]);
    return 0;
}

INLINE int woken(struct task_struct *task, u32 count)
{
    u32 box = box_of(task);
    struct seen *s = box ? map_get(&seen, &box) : 0;
    struct task *t = s ? known(task) : 0;
    if (!t)
        return 0;
    s->count[count]++;
    if (!t->on)
        t->ready = now_ns();
    return 0;
}
SEC("tp_btf/sched_wakeup") int woke(u64 *ctx) { return woken((void *)ctx[0], WAKE_UPS); }
SEC("tp_btf/sched_wakeup_new") int born(u64 *ctx) { return woken((void *)ctx[0], FORKS); }

/* System calls: how often each, and how long, waiting included. */
SEC("tp_btf/sys_enter")
int entered(u64 *ctx)
{
    struct task *t = box_of(this_task()) ? known(this_task()) : 0;
    if (t) {
        t->call = ctx[1];
        t->entered = now_ns();
    }
    return 0;
}

SEC("tp_btf/sys_exit")
int left(u64 *ctx)
{
    u32 box = box_of(this_task());
    struct task *t = box ? known(this_task()) : 0;
    if (!t || !t->entered)
        return 0;
    u32 key = box * CALLS + (t->call & (CALLS - 1));
    struct timed *sum = map_get(&calls, &key);
    if (sum) {
        sum->n++;
        sum->ns += now_ns() - t->entered;
    }
    t->entered = 0;
    return 0;
}

INLINE int faulted(u32 count)
{
    u32 box = box_of(this_task());
    struct seen *s = box ? map_get(&seen, &box) : 0;
    if (s)
        s->count[count]++;
    return 0;
}
SEC("tp_btf/page_fault_user") int fault(u64 *ctx) { return faulted(FAULTS); }
SEC("tp_btf/page_fault_kernel") int kernel_fault(u64 *ctx) { return faulted(KERNEL_FAULTS); }

/* What is done beside tasks belongs to the box whose turn it is: softirqs by their numbers, ticks, and blocks of disks
 * from issue to completion. */
INLINE void tell(u32 aside, u64 since)
{
    u32 key = now.box * ASIDES + aside;
    struct timed *sum = now.box ? map_get(&asides, &key) : 0;
    if (sum) {
        sum->n++;
        sum->ns += now_ns() - since;
    }
}
INLINE int begin(u32 aside)
{
    u64 *at = map_get(&began, &aside);
    if (at)
        *at = now_ns();
    return 0;
}
INLINE int end(u32 aside)
{
    u64 *at = map_get(&began, &aside);
    if (at && *at) {
        tell(aside, *at);
        *at = 0;
    }
    return 0;
}
SEC("tp_btf/softirq_entry") int softirq_in(u64 *ctx) { return ctx[0] < TICK ? begin(ctx[0]) : 0; }
SEC("tp_btf/softirq_exit") int softirq_out(u64 *ctx) { return ctx[0] < TICK ? end(ctx[0]) : 0; }
SEC("tp_btf/local_timer_entry") int tick_in(u64 *ctx) { return begin(TICK); }
SEC("tp_btf/local_timer_exit") int tick_out(u64 *ctx) { return end(TICK); }
SEC("tp_btf/block_rq_issue")
int issued(u64 *ctx)
{
    u64 request = ctx[0], at = now_ns();
    if (now.box)
        map_put(&requests, &request, &at, 0);
    return 0;
}
SEC("tp_btf/block_rq_complete")
int completed(u64 *ctx)
{
    u64 request = ctx[0], *at = map_get(&requests, &request);
    if (at) {
        tell(DISK, *at);
        map_del(&requests, &request);
    }
    return 0;
}

/* Where the CPU's time goes: a look now and then. */
SEC("perf_event")
int sampled(void *ctx)
{
    u32 box = box_of(this_task());
    struct seen *s = box ? map_get(&seen, &box) : 0;
    if (s)
        add_stack(s, box, ON_CPU, stack_id(ctx, &stacks, 0), 0);
    return 0;
}
