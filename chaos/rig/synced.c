/* Preloaded into a server: notes what of each file is on the disk, for cutting its power.
 *
 * Appends to the file named by SYNCED a pair of 64-bit numbers, inode and length: after each fsync or fdatasync that
 * succeeded, the length that the file had before the call; with length 0 when a file is made, whose inode may have been
 * another's; length 0 and then the new length when one is shortened, as a server does at its start after a torn end. A write of 16 bytes to a file opened for appending is whole, whatever thread or child does it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static int (*real_fsync)(int), (*real_fdatasync)(int), (*real_open)(const char *, int, ...),
    (*real_open64)(const char *, int, ...), (*real_ftruncate)(int, off_t),
    (*real_truncate)(const char *, off_t);
static int notes = -1;

__attribute__((constructor)) static void begin(void) {
  real_fsync = dlsym(RTLD_NEXT, "fsync");
  real_fdatasync = dlsym(RTLD_NEXT, "fdatasync");
  real_open = dlsym(RTLD_NEXT, "open");
  real_open64 = dlsym(RTLD_NEXT, "open64");
  real_ftruncate = dlsym(RTLD_NEXT, "ftruncate64");
  real_truncate = dlsym(RTLD_NEXT, "truncate64");
  if (getenv("SYNCED"))
    notes = real_open(getenv("SYNCED"), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
}

static void note(const struct stat *file, off_t length) {
  uint64_t pair[2] = {(uint64_t)file->st_ino, (uint64_t)length};
  if (notes >= 0 && write(notes, pair, sizeof pair) != sizeof pair) abort();
}

static int synced(int descriptor, int (*real)(int)) {
  struct stat before;
  int is_file = fstat(descriptor, &before) == 0 && S_ISREG(before.st_mode);
  int result = real(descriptor);
  if (result == 0 && is_file) note(&before, before.st_size);
  return result;
}

int fsync(int descriptor) { return synced(descriptor, real_fsync); }
int fdatasync(int descriptor) { return synced(descriptor, real_fdatasync); }

static int opened(int descriptor, int flags) {
  struct stat file;
  if (descriptor >= 0 && (flags & O_CREAT) && fstat(descriptor, &file) == 0 && S_ISREG(file.st_mode) && file.st_size == 0)
    note(&file, 0);
  return descriptor;
}

#define MODE_OF(flags, mode)         \
  mode_t mode = 0;                   \
  if ((flags) & (O_CREAT | O_TMPFILE)) { \
    va_list rest;                    \
    va_start(rest, flags);           \
    mode = va_arg(rest, mode_t);     \
    va_end(rest);                    \
  }

int open(const char *path, int flags, ...) {
  MODE_OF(flags, mode)
  return opened(real_open(path, flags, mode), flags);
}

int open64(const char *path, int flags, ...) {
  MODE_OF(flags, mode)
  return opened(real_open64(path, flags, mode), flags);
}

static int shortened(int result, const struct stat *file, off_t length) {
  if (result == 0 && S_ISREG(file->st_mode)) {
    note(file, 0);
    note(file, length);
  }
  return result;
}

int ftruncate64(int descriptor, off_t length) {
  struct stat file;
  return fstat(descriptor, &file) ? -1 : shortened(real_ftruncate(descriptor, length), &file, length);
}

int truncate64(const char *path, off_t length) {
  struct stat file;
  return stat(path, &file) ? -1 : shortened(real_truncate(path, length), &file, length);
}

int ftruncate(int descriptor, off_t length) { return ftruncate64(descriptor, length); }
int truncate(const char *path, off_t length) { return truncate64(path, length); }
