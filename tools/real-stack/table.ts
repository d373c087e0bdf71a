/**
 * Programs built from one Go module: `modules/<name>` holds its go.mod and go.sum, made by
 * `go get -tool PACKAGE@VERSION` in an empty module (never `go mod tidy`: it drops what only a tool needs).
 */
export type ProgramGroup = {
  readonly name: string;
  readonly version: string;
  /** The module whose required version in go.mod is `version`. */
  readonly module: string;
  /** Program → the package it is built from. */
  readonly programs: Readonly<Record<string, string>>;
  readonly ldflags?: readonly string[];
  readonly tags?: string;
  /** A person who waits should know for how long. */
  readonly firstBuild: string;
};

const kubernetes = 'v1.36.4';
const [major, minor] = kubernetes.slice(1).split('.');
const versionPackage = 'k8s.io/component-base/version';

/** To add a program: a folder in `modules/` and a row here. */
export const programGroups: readonly ProgramGroup[] = [
  {
    name: 'etcd',
    version: 'v3.6.14',
    module: 'go.etcd.io/etcd/server/v3',
    programs: { etcd: 'go.etcd.io/etcd/server/v3', etcdctl: 'go.etcd.io/etcd/etcdctl/v3' },
    firstBuild: '2 min',
  },
  {
    name: 'kubernetes',
    version: kubernetes,
    module: 'k8s.io/kubernetes',
    programs: {
      'kube-apiserver': 'k8s.io/kubernetes/cmd/kube-apiserver',
      'kube-scheduler': 'k8s.io/kubernetes/cmd/kube-scheduler',
      'kube-controller-manager': 'k8s.io/kubernetes/cmd/kube-controller-manager',
      kubectl: 'k8s.io/kubernetes/cmd/kubectl',
    },
    ldflags: [
      `-X ${versionPackage}.gitVersion=${kubernetes}`,
      `-X ${versionPackage}.gitMajor=${major}`,
      `-X ${versionPackage}.gitMinor=${minor}`,
    ],
    firstBuild: '7 min',
  },
  {
    name: 'kwok',
    version: 'v0.8.0',
    module: 'sigs.k8s.io/kwok',
    programs: { kwok: 'sigs.k8s.io/kwok/cmd/kwok' },
    firstBuild: '2 min',
  },
  {
    name: 'go-ipmi',
    version: 'v0.9.1',
    module: 'github.com/bougou/go-ipmi',
    // Its server package in a few lines of our own, beside the go.mod.
    programs: { 'go-ipmi-bmc': '.' },
    firstBuild: '1 min',
  },
  {
    name: 'cluster-autoscaler',
    // The release tags are not on the module proxy.
    version: 'v0.0.0-20260730100515-c0e41acd9bec',
    module: 'k8s.io/autoscaler/cluster-autoscaler',
    programs: { 'cluster-autoscaler': 'k8s.io/autoscaler/cluster-autoscaler' },
    tags: 'externalgrpc',
    firstBuild: '4 min',
  },
  {
    name: 'knative-eventing',
    version: 'v0.50.0',
    module: 'knative.dev/eventing',
    programs: {
      'knative-broker-ingress': 'knative.dev/eventing/cmd/broker/ingress',
      'knative-broker-filter': 'knative.dev/eventing/cmd/broker/filter',
      'knative-channel-dispatcher': 'knative.dev/eventing/cmd/in_memory/channel_dispatcher',
      'knative-mtping': 'knative.dev/eventing/cmd/mtping',
    },
    firstBuild: '4 min',
  },
  {
    name: 'knative-serving',
    version: 'v0.50.0',
    module: 'knative.dev/serving',
    programs: { 'knative-queue-proxy': 'knative.dev/serving/cmd/queue' },
    firstBuild: '2 min',
  },
  {
    name: 'liqo',
    version: 'v1.0.1',
    module: 'github.com/liqotech/liqo',
    programs: {
      'liqo-controller-manager': 'github.com/liqotech/liqo/cmd/liqo-controller-manager',
      'liqo-crd-replicator': 'github.com/liqotech/liqo/cmd/crd-replicator',
      'liqo-webhook': 'github.com/liqotech/liqo/cmd/webhook',
      'liqo-virtual-kubelet': 'github.com/liqotech/liqo/cmd/virtual-kubelet',
    },
    firstBuild: '4 min',
  },
];

export const controlPlanePrograms = [
  'etcd',
  'kube-apiserver',
  'kube-scheduler',
  'kube-controller-manager',
  'kwok',
] as const;

export const liqoPrograms = [
  'liqo-controller-manager',
  'liqo-crd-replicator',
  'liqo-webhook',
  'liqo-virtual-kubelet',
] as const;

export function groupOf(program: string): ProgramGroup | undefined {
  return programGroups.find((group) => program in group.programs);
}
