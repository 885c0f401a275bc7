# mgpu_pg: sorting and merging for PostgreSQL on the GPU, with a fast CPU path.
#
#   make                 builds the extension for the PostgreSQL that pg_config names
#   make install         installs it there
#   make installcheck    runs the SQL, isolation and TAP tests against a running server
#   make test            every part once, in minutes, on private servers; installs what is missing (Debian, Ubuntu)
#   make test-full       those, and big sizes, sanitizers, valgrind, coverage, memory peaks, long random tests: over three hours
#   make demo            a tour with millions of rows on a private server
#   make bench           figures against PostgreSQL and its peers
#   make lint            clang-tidy and cppcheck over src; fails if they find anything
#   make clean
#
# Settings (make NAME=value):
#   PG_CONFIG       pg_config of the PostgreSQL to build for
#   WITH_CUDA       yes, no; default: yes where there is nvcc ($CUDA_HOME, PATH, /usr/local/cuda) and a GPU
#   CUDA_ARCHS      compute capabilities to build kernels for, such as "80 90"; default: those of the GPUs here,
#                   or all that nvcc knows, where WITH_CUDA=yes asks for kernels and there is no GPU
#   WITH_HIGHWAY    yes, no; default: yes where Google Highway's vqsort is found
#   HIGHWAY         where Highway is installed; default: /usr/local if it is there, else where the compiler looks
#   WERROR          yes: compiler warnings stop the build, as they do under "make test"
#   COPT            more options of the compiler, such as -fsanitize=address
#   TEST_SIZES      yes: thresholds so small that tests cross them with small arrays (src/core/sizes.h)
#
# How it fits together: src (but src/core) holds PGXS objects, since PostgreSQL may want
# LLVM bitcode of them, which only C can give.  Everything that is not
# PostgreSQL's business (src/core, kernels) becomes a static archive that the
# shared library links.  Each archive has a .config file with the settings that
# it was built with; a changed setting changes that file and so rebuilds.

EXTENSION = mgpu_pg
MODULE_big = mgpu_pg
DATA = $(sort $(wildcard sql/mgpu_pg--*.sql))
OBJS = $(patsubst %.c,%.o,$(filter-out src/core/%,$(sort $(wildcard src/*.c src/*/*.c))))
BUILD = build

PG_CONFIG ?= pg_config
PGXS := $(wildcard $(shell $(PG_CONFIG) --pgxs 2>/dev/null))

.DEFAULT_GOAL := all

# ---------------------------------------------------------------- what is here

ifeq ($(origin NVCC),undefined)
NVCC := $(firstword $(if $(CUDA_HOME),$(wildcard $(CUDA_HOME)/bin/nvcc)) \
	$(shell command -v nvcc 2>/dev/null) $(wildcard /usr/local/cuda/bin/nvcc))
endif
ifneq ($(WITH_CUDA),no)
ifneq ($(NVCC),)
ifeq ($(origin CUDA_ARCHS),undefined)
GPU_ARCHS := $(shell nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | \
	sed -n 's/^\([0-9]*\)\.\([0-9]*\)$$/\1\2/p' | sort -un)
ifneq ($(GPU_ARCHS),)
CUDA_ARCHS := $(GPU_ARCHS)
endif
endif
endif
endif

ifeq ($(WITH_CUDA),no)
CUDA_SAYS = off (WITH_CUDA=no)
else ifneq ($(NVCC),)
ifneq ($(WITH_CUDA)$(CUDA_ARCHS),)
override WITH_CUDA := yes
CUDA_SAYS = $(NVCC), compute capabilities $(CUDA_ARCHS)
else
override WITH_CUDA := no
CUDA_SAYS = no GPU here, this build sorts on the CPU alone (WITH_CUDA=yes builds kernels for other machines)
endif
else ifeq ($(WITH_CUDA),yes)
$(error WITH_CUDA=yes, but there is no nvcc in $$CUDA_HOME/bin, PATH or /usr/local/cuda/bin)
else
override WITH_CUDA := no
CUDA_SAYS = no nvcc found, this build sorts on the CPU alone
endif

# Libraries by their paths: flags of PostgreSQL's own build would have the linker find another version's first.
HIGHWAY ?= $(if $(wildcard /usr/local/include/hwy/contrib/sort/vqsort.h),/usr/local)
HIGHWAY_FLAGS = $(HIGHWAY:%=-isystem %/include)
highway_lib = $(firstword $(wildcard $(foreach ending,a so,$(HIGHWAY)/lib/lib$(1).$(ending) $(HIGHWAY)/lib/*/lib$(1).$(ending))) lib$(1))
HIGHWAY_LIBS = $(if $(HIGHWAY),$(call highway_lib,hwy_contrib) $(call highway_lib,hwy),-lhwy_contrib -lhwy)
HASH := \#
ifneq ($(filter-out no,$(or $(WITH_HIGHWAY),auto)),)
# 1.0 is where its interface settled; highway.h tells the version
HIGHWAY_FOUND := $(shell printf '%s\n' '$(HASH)include <hwy/contrib/sort/vqsort.h>' '$(HASH)include <hwy/highway.h>' \
	'static_assert(HWY_MAJOR >= 1, "");' 'int main() { return 0; }' | \
	$(CXX) $(HIGHWAY_FLAGS) -x c++ -std=c++17 - -o /dev/null -x none $(HIGHWAY_LIBS) >/dev/null 2>&1 && echo yes)
endif
ifeq ($(WITH_HIGHWAY),no)
HIGHWAY_SAYS = off (WITH_HIGHWAY=no), portable radix sort instead
else ifeq ($(HIGHWAY_FOUND),yes)
override WITH_HIGHWAY := yes
HIGHWAY_SAYS = found$(HIGHWAY:%= in %), CPU sorts by vqsort
else ifeq ($(WITH_HIGHWAY),yes)
$(error WITH_HIGHWAY=yes, but hwy/contrib/sort/vqsort.h or libhwy_contrib is missing or older than 1.0)
else
override WITH_HIGHWAY := no
HIGHWAY_SAYS = not found in version 1.0 or later, portable radix sort instead
endif

WARNINGS = -Wall -Wextra $(if $(filter yes,$(WERROR)),-Werror)
FEATURES = -DMGPU_WITH_CUDA=$(if $(filter yes,$(WITH_CUDA)),1,0) \
	-DMGPU_WITH_HIGHWAY=$(if $(filter yes,$(WITH_HIGHWAY)),1,0) \
	$(if $(filter yes,$(TEST_SIZES)),-DMGPU_TEST_SIZES)

# ------------------------------------------------------------ the PostgreSQL side

# -isystem: PostgreSQL's headers do not keep our warning level.  Not
# -fvisibility=hidden: before 16, PostgreSQL's macros do not export what it needs.
PG_CPPFLAGS = -Isrc $(FEATURES) -isystem $(shell $(PG_CONFIG) --includedir-server)
PG_CFLAGS = $(WARNINGS) -Wno-unused-parameter -MMD -MP

CORE_ARCHIVE = $(BUILD)/libmgpu_core.a
CUDA_ARCHIVE = $(if $(filter yes,$(WITH_CUDA)),$(BUILD)/libmgpu_cuda.a)
EXPORTS = $(BUILD)/exports.map
PLAYED_ARCHIVE = $(BUILD)/libmgpu_played.a
ARCHIVES = $(CUDA_ARCHIVE) $(CORE_ARCHIVE) $(if $(filter yes,$(TEST_SIZES)),$(PLAYED_ARCHIVE))
SHLIB_LINK = -Wl,--start-group $(ARCHIVES) -Wl,--end-group -Wl,--version-script=$(EXPORTS) \
	$(if $(CUDA_ARCHIVE),$(CUDA_LIBS)) $(if $(filter yes,$(WITH_HIGHWAY)),$(HIGHWAY_LIBS)) -lstdc++ -pthread
EXTRA_CLEAN = $(BUILD) $(OBJS:.o=.d) $(OBJS:.o=.bc)

REGRESS = $(patsubst test/sql/%.sql,%,$(sort $(wildcard test/sql/*.sql)))
REGRESS_OPTS = --inputdir=test --load-extension=$(EXTENSION)
ENCODING = UTF8
NO_LOCALE = 1
# not heap_reader_prepared, for which servers need a setting
ISOLATION = heap_reader
ISOLATION_OPTS = --inputdir=test/isolation --load-extension=$(EXTENSION)

# TAP tests need IPC::Run and PostgreSQL's own Perl modules.
ifneq ($(filter installcheck,$(MAKECMDGOALS)),)
ifeq ($(and $(shell perl -MIPC::Run -e 'print 1' 2>/dev/null),$(wildcard $(dir $(PGXS))../test/perl/PostgreSQL/Test/Cluster.pm)),)
$(info mgpu_pg: no IPC::Run or no PostgreSQL::Test Perl modules, leaving the TAP tests out)
else
TAP_TESTS = 1
endif
endif
PROVE_TESTS = $(sort $(wildcard test/t/*.pl))

# Debian's server packages want bitcode; without their clang there is none.
PG_CLANG := $(shell $(PG_CONFIG) --configure 2>/dev/null | tr "'" '\n' | sed -n 's/^CLANG=//p')
ifneq ($(PG_CLANG),)
ifeq ($(shell command -v $(PG_CLANG)),)
override with_llvm := no
endif
endif

# What is left to do, behind PGXS's own rule, to which nothing can be added: a make of its own has that.
ifneq ($(and $(PGXS),$(filter install,$(MAKECMDGOALS))),)
ifneq ($(MGPU_INSTALLS),yes)
NO_INSTALL = yes
PRELOAD_SAYS = $(if $(CUDA_ARCHIVE),ALTER SYSTEM SET shared_preload_libraries = 'mgpu_pg' and restart the server,\
	ALTER SYSTEM SET session_preload_libraries = 'mgpu_pg' and SELECT pg_reload_conf())
install: all
	+@$(MAKE) --no-print-directory -f $(firstword $(MAKEFILE_LIST)) MGPU_INSTALLS=yes install
	@echo "mgpu_pg: installed. Next: $(strip $(PRELOAD_SAYS)). Then CREATE EXTENSION mgpu_pg, as README.md says."
endif
endif

ifneq ($(PGXS),)
include $(PGXS)
else
all install installdirs installcheck uninstall:
	@echo 'mgpu_pg: $(PG_CONFIG) does not lead to a PostgreSQL with server headers.' >&2
	@echo 'Set PG_CONFIG, or run tools/setup to install what is missing (Debian, Ubuntu).' >&2
	@false
clean:
	rm -rf $(BUILD) mgpu_pg.so $(OBJS) $(EXTRA_CLEAN)
endif

ifneq ($(filter clean distclean maintainer-clean,$(MAKECMDGOALS)),)
.NOTPARALLEL:
endif
ifneq ($(filter install,$(MAKECMDGOALS)),)
installcheck: | install
endif

# ------------------------------------------------------------------------ core

CORE_CFLAGS = -O3 -g -fPIC -fvisibility=hidden -pthread $(WARNINGS) -Wno-unused-parameter -Isrc $(FEATURES) -MMD -MP $(COPT)
CORE_CC = $(CC) -std=gnu11 $(CORE_CFLAGS)
CORE_CXX = $(CXX) -std=c++17 -fno-exceptions -fno-rtti $(HIGHWAY_FLAGS) $(CORE_CFLAGS)

CORE_SOURCES = $(sort $(wildcard src/core/*.c src/core/*/*.c src/core/*/*/*.c src/core/*.cpp))
NO_CUDA_ENGINE = src/core/no_cuda_engine.c
core_objects = $(patsubst src/core/%,$(1)/%.o,$(basename $(2)))
CORE_LEFT_OUT = $(if $(CUDA_ARCHIVE),$(NO_CUDA_ENGINE)) $(if $(filter yes,$(TEST_SIZES)),src/core/engine_choice.c)
CORE_OBJECTS = $(call core_objects,$(BUILD)/core,$(filter-out $(CORE_LEFT_OUT),$(CORE_SOURCES)))

$(BUILD)/core/%.o: src/core/%.c $(BUILD)/core.config
	@mkdir -p $(@D)
	$(CORE_CC) -c -o $@ $<

$(BUILD)/core/%.o: src/core/%.cpp $(BUILD)/core.config
	@mkdir -p $(@D)
	$(CORE_CXX) -c -o $@ $<

$(CORE_ARCHIVE): $(CORE_OBJECTS) $(BUILD)/core.config
	@rm -f $@
	$(AR) rcs $@ $(CORE_OBJECTS)

# Devices that tests play: part of no library that users get.
PLAYED_SOURCES = $(sort $(wildcard test/played/*.c))
played_objects = $(patsubst test/played/%.c,$(1)/%.o,$(PLAYED_SOURCES))

$(BUILD)/played/%.o: test/played/%.c $(BUILD)/core.config
	@mkdir -p $(@D)
	$(CORE_CC) -Itest -c -o $@ $<

$(PLAYED_ARCHIVE): $(call played_objects,$(BUILD)/played) $(BUILD)/core.config
	@rm -f $@
	$(AR) rcs $@ $(call played_objects,$(BUILD)/played)

# --------------------------------------------------------------------- kernels

# Defines $(BUILD)/libmgpu_cuda.a, CUDA_ARCHS, CUDA_LIBS and the kernels' test and
# bench programs.  It has NVCC, BUILD, WARNINGS, CORE_ARCHIVE and CC, CXX, AR to
# go by, and $(BUILD)/cuda.config as a prerequisite that changes with NVCC and
# CUDA_ARCHS.
ifeq ($(WITH_CUDA),yes)
include kernels/Makefile.inc
endif

# ------------------------------------------------------------------ link, export

# Only what PostgreSQL looks up by name leaves the library.
$(EXPORTS): $(OBJS:.o=.c) Makefile
	@mkdir -p $(@D)
	@{ echo '{ global: Pg_magic_func; _PG_init; pg_finfo_*;'; \
	   sed -n 's/^PG_FUNCTION_INFO_V1(\([a-z0-9_]*\)).*/	\1;/p' $(OBJS:.o=.c); \
	   sed -n 's/^extern PGDLLEXPORT void \([a-z0-9_]*\)(.*/	\1;/p' $(wildcard src/*/*.h); \
	   echo '  local: *; };'; } >$@

$(MODULE_big).so: $(ARCHIVES) $(EXPORTS) $(BUILD)/link.config
$(OBJS): $(BUILD)/src.config
$(foreach object,$(OBJS),$(eval $(object:.o=.bc): $(object)))

# ---------------------------------------------------------------------- settings

core_config = $(CORE_CC) | $(CORE_CXX)
cuda_config = $(NVCC) | $(CUDA_ARCHS)
# not the installation's paths: a copy of the same PostgreSQL needs no new build
src_config = $(shell $(PG_CONFIG) --version) | $(shell $(PG_CONFIG) --configure) | $(CC) | $(FEATURES) | $(PG_CFLAGS) | $(COPT)
link_config = $(OBJS) | $(CORE_OBJECTS) | $(SHLIB_LINK)
CONFIGS = core src link $(if $(CUDA_ARCHIVE),cuda)

define write_config
mkdir -p $(BUILD) && printf '%s\n' '$(subst ','\'',$($(1)_config))' >$(BUILD)/$(1).config
endef
$(BUILD)/%.config:
	@$(call write_config,$*)

NOT_BUILDING = clean distclean maintainer-clean uninstall installcheck test test-full demo bench lint setup
ifneq ($(PGXS),)
ifneq ($(filter-out $(NOT_BUILDING),$(or $(MAKECMDGOALS),all)),)
# Rewritten while make reads this file, so that make itself sees the change.
$(foreach name,$(CONFIGS),$(if $(shell printf '%s\n' '$(subst ','\'',$($(name)_config))' | \
	cmp -s - $(BUILD)/$(name).config || echo differs),$(shell $(call write_config,$(name)))))
ifeq ($(MGPU_BUILD_SAID),)
$(info mgpu_pg: $(shell $(PG_CONFIG) --version))
$(info mgpu_pg: CUDA: $(CUDA_SAYS))
$(info mgpu_pg: Highway: $(HIGHWAY_SAYS))
endif
endif
endif
export MGPU_BUILD_SAID = yes

# ------------------------------------------------------------------- unit tests

# One program a file; those of the service have it with small extents.  In variants: plain against the shipped archive; guarded, the
# same with memory between guard pages and threads that are shaken (unit_guard.c);
# the others against the core built with that sanitizer, or with counts of gcov.
UNIT_TESTS = $(patsubst test/unit/%.c,%,$(sort $(wildcard test/unit/core_*.c)))
UNIT_VARIANTS = plain guarded asan ubsan tsan coverage
UNIT_FLAGS_plain =
UNIT_WRAPPED = malloc calloc realloc aligned_alloc free mmap munmap pthread_mutex_lock pthread_mutex_unlock
UNIT_FLAGS_guarded = $(UNIT_WRAPPED:%=-Wl,--wrap=%)
UNIT_FLAGS_asan = -O1 -fsanitize=address -fno-omit-frame-pointer
UNIT_FLAGS_ubsan = -O1 -fsanitize=undefined -fno-sanitize-recover=all
UNIT_FLAGS_tsan = -O1 -fsanitize=thread
UNIT_FLAGS_coverage = -O1 --coverage
UNIT_SMALL_TESTS = $(filter core_service%,$(UNIT_TESTS))
UNIT_PLAYED_TESTS = core_group core_group_merge core_table
UNIT_SMALL_SOURCES = $(filter src/core/service/%,$(CORE_SOURCES))
UNIT_LIBS = $(if $(filter yes,$(WITH_HIGHWAY)),$(HIGHWAY_LIBS)) -lstdc++ -lm -pthread

define unit_variant
UNIT_SMALL_OBJECTS_$(1) = $$(call core_objects,$(BUILD)/unit/$(1)/small,$$(UNIT_SMALL_SOURCES)) $$(call played_objects,$(BUILD)/unit/$(1)/small/played)
$(BUILD)/unit/$(1)/core/%.o: src/core/%.c $(BUILD)/core.config
	@mkdir -p $$(@D)
	$$(CORE_CC) $$(UNIT_FLAGS_$(1)) -c -o $$@ $$<
$(BUILD)/unit/$(1)/core/%.o: src/core/%.cpp $(BUILD)/core.config
	@mkdir -p $$(@D)
	$$(CORE_CXX) $$(UNIT_FLAGS_$(1)) -c -o $$@ $$<
$(BUILD)/unit/$(1)/libmgpu_core.a: $$(call core_objects,$(BUILD)/unit/$(1)/core,$$(CORE_SOURCES))
	@rm -f $$@
	$$(AR) rcs $$@ $$^
$(BUILD)/unit/$(1)/played/%.o: test/played/%.c $(BUILD)/core.config
	@mkdir -p $$(@D)
	$$(CORE_CC) $$(UNIT_FLAGS_$(1)) -Itest -c -o $$@ $$<
$(BUILD)/unit/$(1)/small/%.o: src/core/%.c $(BUILD)/core.config
	@mkdir -p $$(@D)
	$$(CORE_CC) $$(UNIT_FLAGS_$(1)) -DMGPU_TEST_SIZES -c -o $$@ $$<
$(BUILD)/unit/$(1)/small/played/%.o: test/played/%.c $(BUILD)/core.config
	@mkdir -p $$(@D)
	$$(CORE_CC) $$(UNIT_FLAGS_$(1)) -Itest -DMGPU_TEST_SIZES -c -o $$@ $$<
$(BUILD)/unit/$(1)/%: test/unit/%.c $$(UNIT_ARCHIVE_$(1)) $(BUILD)/core.config
	@mkdir -p $$(@D)
	$$(CORE_CC) $$(UNIT_FLAGS_$(1)) -Itest $$(UNIT_SMALL) -o $$@ $$< $$(UNIT_OBJECTS) $$(UNIT_ARCHIVE_$(1)) $$(UNIT_LIBS)
$(UNIT_SMALL_TESTS:%=$(BUILD)/unit/$(1)/%): UNIT_SMALL = -DMGPU_TEST_SIZES
$(UNIT_SMALL_TESTS:%=$(BUILD)/unit/$(1)/%): UNIT_OBJECTS = $$(UNIT_SMALL_OBJECTS_$(1))
$(UNIT_SMALL_TESTS:%=$(BUILD)/unit/$(1)/%): $$(UNIT_SMALL_OBJECTS_$(1))
$(UNIT_PLAYED_TESTS:%=$(BUILD)/unit/$(1)/%): UNIT_OBJECTS = $$(call played_objects,$(BUILD)/unit/$(1)/played)
$(UNIT_PLAYED_TESTS:%=$(BUILD)/unit/$(1)/%): $$(call played_objects,$(BUILD)/unit/$(1)/played)
unit-$(1): $$(UNIT_TESTS:%=$(BUILD)/unit/$(1)/%)
.PHONY: unit-$(1)
-include $$(wildcard $(BUILD)/unit/$(1)/*.d $(BUILD)/unit/$(1)/*/*.d $(BUILD)/unit/$(1)/*/*/*.d $(BUILD)/unit/$(1)/*/*/*/*.d)
endef
UNIT_NO_CUDA = $(if $(wildcard $(NO_CUDA_ENGINE)),$(call core_objects,$(BUILD)/core,$(NO_CUDA_ENGINE)))
UNIT_ARCHIVE_plain = $(CORE_ARCHIVE) $(if $(CUDA_ARCHIVE),$(BUILD)/unit/libmgpu_no_cuda.a)
UNIT_ARCHIVE_guarded = $(BUILD)/unit/unit_guard.o $(UNIT_ARCHIVE_plain)
$(foreach variant,$(filter-out plain guarded,$(UNIT_VARIANTS)),$(eval UNIT_ARCHIVE_$(variant) = $(BUILD)/unit/$(variant)/libmgpu_core.a))
$(foreach variant,$(UNIT_VARIANTS),$(eval $(call unit_variant,$(variant))))
$(BUILD)/unit/unit_guard.o: test/unit/unit_guard.c $(BUILD)/core.config
	@mkdir -p $(@D)
	$(CORE_CC) -fno-builtin -c -o $@ $<
$(BUILD)/unit/libmgpu_no_cuda.a: $(UNIT_NO_CUDA)
	@mkdir -p $(@D)
	@rm -f $@
	$(AR) rcs $@ $^

# The floor that "make bench" measures against.
$(BUILD)/vqsort_bench: test/bench/vqsort_bench.c $(UNIT_ARCHIVE_plain)
	$(CORE_CC) -o $@ $< $(UNIT_ARCHIVE_plain) $(UNIT_LIBS)
# The sort beneath all others, beside its rivals.
$(BUILD)/unsigned_bench: test/bench/unsigned_bench.cpp $(UNIT_ARCHIVE_plain)
	$(CORE_CXX) -o $@ $< $(UNIT_ARCHIVE_plain) $(UNIT_LIBS)

# The executor of table jobs, on pages in memory.
$(BUILD)/table_bench: test/bench/table_bench.c $(UNIT_ARCHIVE_plain)
	$(CORE_CC) -o $@ $< $(UNIT_ARCHIVE_plain) $(UNIT_LIBS)

-include $(OBJS:.o=.d) $(wildcard $(BUILD)/core/*.d $(BUILD)/core/*/*.d $(BUILD)/core/*/*/*.d $(BUILD)/played/*.d)

# ------------------------------------------------------------------ all the rest

setup:
	tools/setup
test:
	tools/run_tests quick
test-full:
	tools/run_tests full
demo:
	tools/demo
bench:
	test/bench/bench
lint:
	tools/lint
.PHONY: all clean install installcheck setup test test-full demo bench lint
