# The loader of the sensor's eBPF programs: one static program.
#   docker build -f images/sensor-bpf.Dockerfile -t "$REGISTRY/bamel-autoscaler-sensor-bpf:$TAG" sensor/bpf
ARG BASE=docker.io/library/node:26-slim@sha256:c0753125a3789977aefe869cbebccf70e3cfd7ea84ca48547458f02e4f1d7146
FROM ${BASE} AS build
RUN apt-get update && apt-get install -y --no-install-recommends \
    bpftool clang gcc libbpf-dev libc6-dev libelf-dev libzstd-dev llvm make zlib1g-dev
COPY . /src
RUN make -C /src OUT=/out LDFLAGS=-static LDLIBS=-lzstd sbom all

FROM scratch
COPY --from=build /out/bamel-bpf /out/sbom.cdx.json /
# The DaemonSet overrides it: to load programs takes root with three capabilities.
USER 65532:65532
ENTRYPOINT ["/bamel-bpf"]
