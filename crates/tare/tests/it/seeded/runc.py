#!/usr/bin/python3
"""A runc that changes the bundle of each box as the file beside it says, then makes the box by the real one."""

import ctypes
import json
import os
import signal
import sys
import time

HERE = "@FOLDER@"
THP_DISABLE, TIMER_SLACK = 41, 29
# Ends a helper whose box was never made.
DEADLINE = 120


def disturb(kind, cgroup):
    """Freezes or stops the processes of a box again and again for as long as it is there."""
    controller = "freezer" if kind == "frozen" else "cpu"
    group = f"/sys/fs/cgroup/{controller}{cgroup}"
    end, seen = time.time() + DEADLINE, False
    while time.time() < end:
        time.sleep(0.004)
        try:
            if kind == "frozen":
                for state in ("FROZEN", "THAWED"):
                    open(f"{group}/freezer.state", "w").write(state)
                    time.sleep(0.002)
            else:
                pids = [int(pid) for pid in open(f"{group}/cgroup.procs")]
                for signal_ in (signal.SIGSTOP, signal.SIGCONT):
                    for pid in pids:
                        os.kill(pid, signal_)
                    time.sleep(0.002)
            seen = True
        except ProcessLookupError:
            continue
        except OSError:
            if seen:
                return


def apart(work):
    """Runs work in a process that holds nothing of the box's."""
    if os.fork():
        return
    os.setsid()
    for fd in (0, 1, 2):
        os.dup2(os.open("/dev/null", os.O_RDWR), fd)
    os.closerange(3, 256)
    work()
    os._exit(0)


def rule(i):
    """A rule that no call meets, and that the kernel must look at for each getppid."""
    args = [{"index": place, "value": 10**6 + i, "op": "SCMP_CMP_EQ"} for place in (0, 1)]
    return {"names": ["getppid"], "action": "SCMP_ACT_ERRNO", "args": args}


def plant(kind, value, bundle, config):
    resources = config["linux"]["resources"]
    if kind == "filter":
        rules = [rule(i) for i in range(int(value))]
        config["linux"]["seccomp"] = {
            "defaultAction": "SCMP_ACT_ALLOW",
            "architectures": ["SCMP_ARCH_X86_64"],
            "syscalls": rules,
        }
    elif kind == "small-pages":
        ctypes.CDLL(None).prctl(THP_DISABLE, 1, 0, 0, 0)
    elif kind == "slack":
        ctypes.CDLL(None).prctl(TIMER_SLACK, int(value), 0, 0, 0)
    elif kind == "quota":
        resources["cpu"].update(quota=int(value), period=100000)
    elif kind == "disk":
        device = os.stat(bundle).st_dev
        limit = {"major": os.major(device), "minor": os.minor(device), "rate": int(value)}
        resources["blockIO"] = {"throttleWriteIOPSDevice": [limit]}
    elif kind == "file":
        open(f"{bundle}/rootfs/seed", "w").close()
    elif kind in ("frozen", "stopped"):
        apart(lambda: disturb(kind, config["linux"]["cgroupsPath"]))


args = sys.argv[1:]
if "run" in args:
    bundle = args[args.index("--bundle") + 1]
    kind, _, value = open(f"{HERE}/seed").read().partition("=")
    with open(f"{bundle}/config.json") as file:
        config = json.load(file)
    plant(kind, value, bundle, config)
    with open(f"{bundle}/config.json", "w") as file:
        json.dump(config, file)
os.execv(f"{HERE}/runc", ["runc"] + args)
