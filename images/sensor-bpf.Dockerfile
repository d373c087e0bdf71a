# What loads the sensor's eBPF programs, and is gone then:
#   docker build -f images/sensor-bpf.Dockerfile -t bamel-autoscaler/sensor-bpf sensor/bpf
FROM debian:12-slim AS build
RUN apt-get update && apt-get install -y --no-install-recommends bpftool clang gcc libbpf-dev libc6-dev llvm make
COPY . /src
RUN make -C /src OUT=/out

FROM debian:12-slim
RUN apt-get update && apt-get install -y --no-install-recommends libbpf1 && rm -rf /var/lib/apt/lists/*
COPY --from=build /out/bamel-bpf /usr/local/bin/bamel-bpf
ENTRYPOINT ["bamel-bpf"]
