// Loads the programs, pins them and what they count below a folder of a bpf file system, and exits: nothing of it
// stays as a process. Loading again replaces what is there; unloading leaves nothing.
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "bamel.skel.h"

static int fail(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  fputc('\n', stderr);
  return 1;
}

static int log_warnings(enum libbpf_print_level level, const char *format, va_list arguments) {
  return level == LIBBPF_WARN ? vfprintf(stderr, format, arguments) : 0;
}

// Asked before anything is removed: a mistyped folder must not cost anybody their files.
static int on_bpf_fs(const char *folder) {
  struct statfs fs;
  if (statfs(folder, &fs) == 0 && fs.f_type == BPF_FS_MAGIC) return 0;
  return fail("%s is not on a bpf file system: mount -t bpf bpf /sys/fs/bpf, and name a folder in it", folder);
}

// Removes every pin: whatever is not held by anybody else is detached by that. The folder stays: it may be mounted.
static int clear(const char *folder) {
  DIR *directory = opendir(folder);
  if (!directory) return errno == ENOENT ? 0 : fail("%s: %s", folder, strerror(errno));
  int failed = on_bpf_fs(folder);
  struct dirent *entry;
  while (!failed && (entry = readdir(directory))) {
    if (entry->d_name[0] == '.') continue;
    if (unlinkat(dirfd(directory), entry->d_name, 0) != 0)
      failed = fail("%s/%s: %s", folder, entry->d_name, strerror(errno));
  }
  closedir(directory);
  return failed;
}

static int unload(const char *folder) {
  if (clear(folder) != 0) return 1;
  return rmdir(folder) == 0 || errno == ENOENT ? 0 : fail("%s: %s", folder, strerror(errno));
}

static int pin(struct bpf_link *link, const char *folder, const char *name, mode_t mode) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  if (!link) return fail("%s: not attached: %s", name, strerror(errno));
  if (bpf_link__pin(link, path) != 0) return fail("%s: not pinned: %s", path, strerror(errno));
  return chmod(path, mode) == 0 ? 0 : fail("%s: %s", path, strerror(errno));
}

static int pin_iterator(struct bpf_program *program, struct bpf_map *map, const char *folder, const char *name) {
  union bpf_iter_link_info info = {.map = {.map_fd = bpf_map__fd(map)}};
  DECLARE_LIBBPF_OPTS(bpf_iter_attach_opts, options, .link_info = &info, .link_info_len = sizeof info);
  // Anybody may read what is counted; only the owner may change what is pinned.
  return pin(bpf_program__attach_iter(program, &options), folder, name, 0444);
}

static int load(const char *folder, const char *cgroup) {
  int root = open(cgroup, O_RDONLY | O_DIRECTORY);
  if (root < 0) return fail("%s: %s: name the root of the cgroup v2 hierarchy", cgroup, strerror(errno));
  struct bamel *programs = bamel__open_and_load();
  if (!programs)
    return fail("the kernel does not take the programs (%s): 5.14 or newer with BTF is needed, and CAP_BPF, "
                "CAP_PERFMON and CAP_NET_ADMIN",
                strerror(errno));
  if (clear(folder) != 0) return 1;
  bool made = mkdir(folder, 0755) == 0;
  if (!made && errno != EEXIST) return fail("%s: %s", folder, strerror(errno));
  int failed = on_bpf_fs(folder);
  if (failed && made) rmdir(folder);
  struct bpf_program *program;
  bpf_object__for_each_program(program, programs->obj) {
    enum bpf_attach_type type = bpf_program__expected_attach_type(program);
    const char *name = bpf_program__name(program);
    if (failed) break;
    if (type == BPF_CGROUP_INET_INGRESS || type == BPF_CGROUP_INET_EGRESS)
      failed = pin(bpf_program__attach_cgroup(program, root), folder, name, 0600);
    else if (type != BPF_TRACE_ITER)
      failed = pin(bpf_program__attach(program), folder, name, 0600);
  }
  failed = failed ||
           pin_iterator(programs->progs.print_waits, programs->maps.waits_by_cgroup, folder, "runqueue") ||
           pin_iterator(programs->progs.print_traffic, programs->maps.traffic_by_cgroup, folder, "network") ||
           pin_iterator(programs->progs.print_stalls, programs->maps.stalls_by_cgroup, folder, "stalls");
  // Half of it would be worse than nothing: the sensor takes what is there for all there is.
  if (failed) clear(folder);
  return failed;
}

int main(int count, char **arguments) {
  libbpf_set_print(log_warnings);
  const char *folder = count > 2 ? arguments[2] : "/sys/fs/bpf/bamel";
  if (count > 1 && strcmp(arguments[1], "load") == 0)
    return load(folder, count > 3 ? arguments[3] : "/sys/fs/cgroup");
  if (count > 1 && strcmp(arguments[1], "unload") == 0) return unload(folder);
  fprintf(stderr, "usage: bamel-bpf load [FOLDER [CGROUP]] | unload [FOLDER]\n"
                  "  FOLDER  on a bpf file system, default /sys/fs/bpf/bamel\n"
                  "  CGROUP  the root of the cgroup v2 hierarchy, default /sys/fs/cgroup\n");
  return 2;
}
