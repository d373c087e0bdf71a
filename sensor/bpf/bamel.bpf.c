// What PSI cannot tell, counted per cgroup: how long tasks wait for a cpu, bytes and packets per interface, TCP
// retransmits, time spent reclaiming memory. Pinned iterators print it as JSON lines, one per cgroup.
#include <linux/bpf.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

// Only what is read of the kernel's own structures; where it lies is found out when the program is loaded.
struct kernfs_node {
  __u64 id;
} __attribute__((preserve_access_index));
struct cgroup {
  struct kernfs_node *kn;
} __attribute__((preserve_access_index));
struct css_set {
  struct cgroup *dfl_cgrp;
} __attribute__((preserve_access_index));
struct task_struct {
  unsigned int __state;
  int pid;
  struct css_set *cgroups;
} __attribute__((preserve_access_index));
struct sock_cgroup_data {
  struct cgroup *cgroup;
} __attribute__((preserve_access_index));
struct sock {
  struct sock_cgroup_data sk_cgrp_data;
} __attribute__((preserve_access_index));
struct seq_file {
} __attribute__((preserve_access_index));
struct bpf_iter_meta {
  struct seq_file *seq;
} __attribute__((preserve_access_index));
struct bpf_iter__bpf_map_elem {
  struct bpf_iter_meta *meta;
  void *key;
  void *value;
} __attribute__((preserve_access_index));

#define SLOTS 24
#define CGROUPS 16384

struct waits {
  __u64 slots[SLOTS];
};
struct traffic_key {
  __u64 cgroup;
  __u32 ifindex;
  __u32 unused;
};
struct traffic {
  __u64 rx_bytes, rx_packets, tx_bytes, tx_packets;
};
struct stalls {
  __u64 retransmits, reclaim_ns;
};
struct marks {
  __u64 runnable_at, reclaim_at;
};

// Cgroups that are gone make room for new ones.
struct {
  __uint(type, BPF_MAP_TYPE_LRU_HASH);
  __uint(max_entries, CGROUPS);
  __type(key, __u64);
  __type(value, struct waits);
} waits_by_cgroup SEC(".maps");
struct {
  __uint(type, BPF_MAP_TYPE_LRU_HASH);
  __uint(max_entries, CGROUPS);
  __type(key, struct traffic_key);
  __type(value, struct traffic);
} traffic_by_cgroup SEC(".maps");
struct {
  __uint(type, BPF_MAP_TYPE_LRU_HASH);
  __uint(max_entries, CGROUPS);
  __type(key, __u64);
  __type(value, struct stalls);
} stalls_by_cgroup SEC(".maps");
struct {
  __uint(type, BPF_MAP_TYPE_TASK_STORAGE);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __type(key, int);
  __type(value, struct marks);
} marks_of_task SEC(".maps");

static const struct waits no_waits;
static const struct traffic no_traffic;
static const struct stalls no_stalls;

static __always_inline __u32 slot_of(__u64 us) {
  __u32 slot = 0;
#pragma unroll
  for (int i = 1; i < SLOTS; i++)
    if (us >> i) slot = i;
  return slot;
}

static __always_inline int runnable(struct task_struct *task) {
  struct marks *marks = bpf_task_storage_get(&marks_of_task, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
  if (marks) marks->runnable_at = bpf_ktime_get_ns();
  return 0;
}

SEC("tp_btf/sched_wakeup")
int BPF_PROG(on_wakeup, struct task_struct *task) { return runnable(task); }

SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(on_wakeup_new, struct task_struct *task) { return runnable(task); }

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, _Bool preempt, struct task_struct *prev, struct task_struct *next) {
  // Pushed off its cpu, not asleep: it waits again.
  if (prev->pid && prev->__state == 0) runnable(prev);
  if (!next->pid) return 0;
  struct marks *marks = bpf_task_storage_get(&marks_of_task, next, 0, 0);
  if (!marks || !marks->runnable_at) return 0;
  __u64 us = (bpf_ktime_get_ns() - marks->runnable_at) / 1000;
  marks->runnable_at = 0;
  __u64 cgroup = next->cgroups->dfl_cgrp->kn->id;
  struct waits *waits = bpf_map_lookup_elem(&waits_by_cgroup, &cgroup);
  if (!waits) {
    bpf_map_update_elem(&waits_by_cgroup, &cgroup, &no_waits, BPF_NOEXIST);
    waits = bpf_map_lookup_elem(&waits_by_cgroup, &cgroup);
    if (!waits) return 0;
  }
  __u32 slot = slot_of(us);
  if (slot < SLOTS) __sync_fetch_and_add(&waits->slots[slot], 1);
  return 0;
}

static __always_inline struct traffic *traffic_of(struct __sk_buff *skb) {
  struct traffic_key key = {.cgroup = bpf_skb_cgroup_id(skb), .ifindex = skb->ifindex};
  struct traffic *traffic = bpf_map_lookup_elem(&traffic_by_cgroup, &key);
  if (traffic) return traffic;
  bpf_map_update_elem(&traffic_by_cgroup, &key, &no_traffic, BPF_NOEXIST);
  return bpf_map_lookup_elem(&traffic_by_cgroup, &key);
}

// 1: let it pass, always.
SEC("cgroup_skb/ingress")
int on_receive(struct __sk_buff *skb) {
  struct traffic *traffic = traffic_of(skb);
  if (!traffic) return 1;
  __sync_fetch_and_add(&traffic->rx_bytes, skb->len);
  __sync_fetch_and_add(&traffic->rx_packets, 1);
  return 1;
}

SEC("cgroup_skb/egress")
int on_send(struct __sk_buff *skb) {
  struct traffic *traffic = traffic_of(skb);
  if (!traffic) return 1;
  __sync_fetch_and_add(&traffic->tx_bytes, skb->len);
  __sync_fetch_and_add(&traffic->tx_packets, 1);
  return 1;
}

static __always_inline struct stalls *stalls_of(__u64 cgroup) {
  struct stalls *stalls = bpf_map_lookup_elem(&stalls_by_cgroup, &cgroup);
  if (stalls) return stalls;
  bpf_map_update_elem(&stalls_by_cgroup, &cgroup, &no_stalls, BPF_NOEXIST);
  return bpf_map_lookup_elem(&stalls_by_cgroup, &cgroup);
}

SEC("tp_btf/tcp_retransmit_skb")
int BPF_PROG(on_retransmit, const struct sock *sk) {
  struct stalls *stalls = stalls_of(sk->sk_cgrp_data.cgroup->kn->id);
  if (stalls) __sync_fetch_and_add(&stalls->retransmits, 1);
  return 0;
}

static __always_inline int reclaim_begins(void) {
  struct task_struct *task = (struct task_struct *)bpf_get_current_task_btf();
  struct marks *marks = bpf_task_storage_get(&marks_of_task, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
  if (marks) marks->reclaim_at = bpf_ktime_get_ns();
  return 0;
}

static __always_inline int reclaim_ends(void) {
  struct task_struct *task = (struct task_struct *)bpf_get_current_task_btf();
  struct marks *marks = bpf_task_storage_get(&marks_of_task, task, 0, 0);
  if (!marks || !marks->reclaim_at) return 0;
  __u64 ns = bpf_ktime_get_ns() - marks->reclaim_at;
  marks->reclaim_at = 0;
  struct stalls *stalls = stalls_of(bpf_get_current_cgroup_id());
  if (stalls) __sync_fetch_and_add(&stalls->reclaim_ns, ns);
  return 0;
}

// For a cgroup's own limit, and for the whole machine: one does not imply the other.
SEC("tp_btf/mm_vmscan_memcg_reclaim_begin")
int BPF_PROG(on_limit_begin) { return reclaim_begins(); }
SEC("tp_btf/mm_vmscan_memcg_reclaim_end")
int BPF_PROG(on_limit_end) { return reclaim_ends(); }
SEC("tp_btf/mm_vmscan_direct_reclaim_begin")
int BPF_PROG(on_direct_begin) { return reclaim_begins(); }
SEC("tp_btf/mm_vmscan_direct_reclaim_end")
int BPF_PROG(on_direct_end) { return reclaim_ends(); }

SEC("iter/bpf_map_elem")
int print_waits(struct bpf_iter__bpf_map_elem *ctx) {
  __u64 *cgroup = ctx->key;
  struct waits *waits = ctx->value;
  if (!cgroup || !waits) return 0;
  BPF_SEQ_PRINTF(ctx->meta->seq, "{\"cgroup\":%llu,\"waits\":[%llu", *cgroup, waits->slots[0]);
  for (int i = 1; i < SLOTS; i++) BPF_SEQ_PRINTF(ctx->meta->seq, ",%llu", waits->slots[i]);
  BPF_SEQ_PRINTF(ctx->meta->seq, "]}\n");
  return 0;
}

SEC("iter/bpf_map_elem")
int print_traffic(struct bpf_iter__bpf_map_elem *ctx) {
  struct traffic_key *key = ctx->key;
  struct traffic *traffic = ctx->value;
  if (!key || !traffic) return 0;
  BPF_SEQ_PRINTF(ctx->meta->seq,
                 "{\"cgroup\":%llu,\"ifindex\":%u,\"rxBytes\":%llu,\"rxPackets\":%llu,"
                 "\"txBytes\":%llu,\"txPackets\":%llu}\n",
                 key->cgroup, key->ifindex, traffic->rx_bytes, traffic->rx_packets, traffic->tx_bytes,
                 traffic->tx_packets);
  return 0;
}

SEC("iter/bpf_map_elem")
int print_stalls(struct bpf_iter__bpf_map_elem *ctx) {
  __u64 *cgroup = ctx->key;
  struct stalls *stalls = ctx->value;
  if (!cgroup || !stalls) return 0;
  BPF_SEQ_PRINTF(ctx->meta->seq, "{\"cgroup\":%llu,\"retransmits\":%llu,\"reclaimUs\":%llu}\n", *cgroup,
                 stalls->retransmits, stalls->reclaim_ns / 1000);
  return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
