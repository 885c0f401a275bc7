/*
 * mgpu_pg.c
 *		Module entry: magic block, settings, the planner's hook, a notice for who installs it.
 *
 * Loading the library defines the settings and registers a plan node with the planner, and with
 * the postmaster the service.  It does not touch CUDA: a CUDA context does not survive fork().  CUDA
 * starts in the service's process; in a server without one, in a backend with the first call that is
 * planned for it.
 */
#include "postgres.h"

#include <limits.h>

#include "access/xact.h"
#include "commands/extension.h"
#include "fmgr.h"
#include "miscadmin.h"

#include "compat.h"
#include "core/engine.h"
#include "core/executor.h"
#include "core/planner.h"
#include "core/sizes.h"
#include "exec/node.h"
#include "index/index_hook.h"
#include "query/offers.h"
#include "service/service.h"
#include "settings.h"
#include "threads.h"

PG_MODULE_MAGIC;

void		_PG_init(void);

int			mgpu_setting_executor = MGPU_EXECUTOR_AUTO;
int			mgpu_setting_algorithm = MGPU_ALGORITHM_AUTO;
int			mgpu_setting_gpu_min_items = -1;
int			mgpu_setting_device = -1;
int			mgpu_setting_gpu_memory_limit = 0;
int			mgpu_setting_gpu_failure = MGPU_GPU_FAILURE_WARN;
int			mgpu_setting_cpu_threads = 0;
int			mgpu_setting_max_cpu_threads = 0;
bool		mgpu_setting_service = true;
int			mgpu_setting_service_memory = 256;
int			mgpu_setting_service_buffers = -1;
int			mgpu_setting_gpu_cache = -1;
bool		mgpu_setting_enable_gpu_cache = true;
int			mgpu_setting_enable_group = MGPU_ENABLE_ON;
int			mgpu_setting_enable_top = MGPU_ENABLE_ON;
int			mgpu_setting_enable_sort = MGPU_ENABLE_ON;
int			mgpu_setting_enable_scan = MGPU_ENABLE_ON;
int			mgpu_setting_enable_index_build = MGPU_ENABLE_OFF;
bool		mgpu_setting_enable_not_in = true;
bool		mgpu_setting_enable_correlated = true;
bool		mgpu_setting_enable_hashed_loops = true;
bool		mgpu_setting_enable_columns = true;
bool		mgpu_setting_enable_threads = true;
bool		mgpu_setting_report_declined = false;
int			mgpu_setting_inject_fault = MGPU_FAULT_NONE;

static const struct config_enum_entry executor_options[] = {
	{"auto", MGPU_EXECUTOR_AUTO, false},
	{"cpu", MGPU_EXECUTOR_CPU, false},
	{"gpu", MGPU_EXECUTOR_GPU, false},
	{NULL, 0, false}
};

static const struct config_enum_entry algorithm_options[] = {
	{"auto", MGPU_ALGORITHM_AUTO, false},
	{"merge", MGPU_ALGORITHM_MERGE, false},
	{"radix", MGPU_ALGORITHM_RADIX, false},
	{"locality", MGPU_ALGORITHM_LOCALITY, false},
	{NULL, 0, false}
};

static const struct config_enum_entry gpu_failure_options[] = {
	{"warn", MGPU_GPU_FAILURE_WARN, false},
	{"silent", MGPU_GPU_FAILURE_SILENT, false},
	{"error", MGPU_GPU_FAILURE_ERROR, false},
	{NULL, 0, false}
};

static const struct config_enum_entry enable_options[] = {
	{"on", MGPU_ENABLE_ON, false},
	{"off", MGPU_ENABLE_OFF, false},
	{"force", MGPU_ENABLE_FORCE, false},
	{"true", MGPU_ENABLE_ON, true},
	{"false", MGPU_ENABLE_OFF, true},
	{"yes", MGPU_ENABLE_ON, true},
	{"no", MGPU_ENABLE_OFF, true},
	{"1", MGPU_ENABLE_ON, true},
	{"0", MGPU_ENABLE_OFF, true},
	{NULL, 0, false}
};

static const struct config_enum_entry fault_options[] = {
	{"none", MGPU_FAULT_NONE, false},
	{"host_memory", MGPU_FAULT_HOST_MEMORY, false},
	{"device_memory", MGPU_FAULT_DEVICE_MEMORY, false},
	{"device_sticky", MGPU_FAULT_DEVICE_STICKY, false},
	{"agg_run", MGPU_FAULT_AGG_RUN, false},
	{"collation", MGPU_FAULT_COLLATION, false},
	{"kept_lsn", MGPU_FAULT_KEPT_LSN, false},
	{"file_pages", MGPU_FAULT_FILE_PAGES, false},
	{NULL, 0, false}
};

static void
define_choices(void)
{
	DefineCustomEnumVariable("mgpu.executor",
							 "Where sorts and merges run.",
							 "\"auto\" lets the planner choose; \"gpu\" without a usable GPU is an error.",
							 &mgpu_setting_executor, MGPU_EXECUTOR_AUTO,
							 executor_options, PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomEnumVariable("mgpu.algorithm",
							 "Algorithm behind the sort functions.",
							 "Every algorithm returns the same result.",
							 &mgpu_setting_algorithm, MGPU_ALGORITHM_AUTO,
							 algorithm_options, PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomEnumVariable("mgpu.gpu_failure",
							 "What to do when the GPU fails or is full.",
							 "\"warn\" and \"silent\" go on with the CPU; \"error\" ends the call.",
							 &mgpu_setting_gpu_failure, MGPU_GPU_FAILURE_WARN,
							 gpu_failure_options, PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomEnumVariable("mgpu.inject_fault",
							 "Makes the next calls fail at a chosen point, for tests.",
							 NULL,
							 &mgpu_setting_inject_fault, MGPU_FAULT_NONE,
							 fault_options, PGC_SUSET, GUC_NOT_IN_SAMPLE,
							 NULL, NULL, NULL);
}

static void
define_nodes(void)
{
	DefineCustomEnumVariable("mgpu.enable_group",
							 "Lets the planner group rows in an MgpuGroup node.",
							 "\"force\" takes the node wherever it can do the work, whatever it costs.",
							 &mgpu_setting_enable_group, MGPU_ENABLE_ON,
							 enable_options, PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomEnumVariable("mgpu.enable_top",
							 "Lets the planner keep the first rows of partitions in an MgpuTop node.",
							 "\"force\" takes the node wherever it can do the work, whatever it costs.",
							 &mgpu_setting_enable_top, MGPU_ENABLE_ON,
							 enable_options, PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomEnumVariable("mgpu.enable_sort",
							 "Lets the planner use the nodes MgpuSort and MgpuWindow.",
							 "\"force\" takes the node wherever it can do the work, whatever it costs.",
							 &mgpu_setting_enable_sort, MGPU_ENABLE_ON,
							 enable_options, PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomEnumVariable("mgpu.enable_scan",
							 "Lets the planner find rows of tables and joins in an MgpuScan node.",
							 "\"force\" takes the node wherever it can do the work, whatever it costs.",
							 &mgpu_setting_enable_scan, MGPU_ENABLE_ON,
							 enable_options, PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomEnumVariable("mgpu.enable_index_build",
							 "Builds btree indexes by the extension's sort.",
							 "\"force\" builds small ones so, too.",
							 &mgpu_setting_enable_index_build, MGPU_ENABLE_OFF,
							 enable_options, PGC_USERSET, 0, NULL, NULL, NULL);
}

static void
define_reading(void)
{
	DefineCustomBoolVariable("mgpu.enable_not_in",
							 "Plans NOT IN of subqueries as joins.",
							 NULL,
							 &mgpu_setting_enable_not_in, true,
							 PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomBoolVariable("mgpu.enable_correlated",
							 "Plans aggregates of the rows that belong to each row as groups that are joined.",
							 "It does so where that costs less than a subquery for each row.",
							 &mgpu_setting_enable_correlated, true,
							 PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomBoolVariable("mgpu.enable_hashed_loops",
							 "Plans hash joins in place of nested loops that read all of a side for each row.",
							 "It does so where they cost about the same as for one row.",
							 &mgpu_setting_enable_hashed_loops, true,
							 PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomBoolVariable("mgpu.enable_columns",
							 "Lets the extension's plan nodes read tables a page at a time, as columns.",
							 NULL,
							 &mgpu_setting_enable_columns, true,
							 PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomBoolVariable("mgpu.enable_threads",
							 "Lets threads of the session read tables, and do what the plan nodes do.",
							 NULL,
							 &mgpu_setting_enable_threads, true,
							 PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomBoolVariable("mgpu.report_declined",
							 "Tells in a NOTICE why a statement gets none of the extension's plan nodes.",
							 NULL,
							 &mgpu_setting_report_declined, false,
							 PGC_USERSET, 0, NULL, NULL, NULL);
}

static const char *
show_cpu_threads(void)
{
	static char shown[12];

	snprintf(shown, sizeof(shown), "%d", threads_allowed());
	return shown;
}

static void
define_limits(void)
{
	DefineCustomIntVariable("mgpu.gpu_min_items",
							"Calls with fewer items than this run on the CPU.",
							"With -1, a cost model decides.",
							&mgpu_setting_gpu_min_items, -1, -1, INT_MAX,
							PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomIntVariable("mgpu.device",
							"Ordinal of the GPU to use.",
							"-1 lets the extension choose.",
							&mgpu_setting_device, -1, -1, 1023,
							PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomIntVariable("mgpu.gpu_memory_limit",
							"Device memory that a session may use.",
							"0 means no limit.",
							&mgpu_setting_gpu_memory_limit, 0, 0, INT_MAX,
							PGC_USERSET, GUC_UNIT_MB, NULL, NULL, NULL);
	DefineCustomIntVariable("mgpu.cpu_threads",
							"Threads that one large call may use on the CPU.",
							"0 chooses by the number of processors. SHOW tells the number in effect.",
							&mgpu_setting_cpu_threads, 0, 0, 256,
							PGC_USERSET, 0, NULL, NULL, show_cpu_threads);
	/* SUSET, not SIGHUP: the maximum can differ by role and by database */
	DefineCustomIntVariable("mgpu.max_cpu_threads",
							"Most threads that mgpu.cpu_threads can give a call.",
							"0 means no maximum.",
							&mgpu_setting_max_cpu_threads, 0, 0, 256,
							PGC_SUSET, 0, NULL, NULL, NULL);
}

/*
 * Only a library that is preloaded for the server may define settings of the postmaster.  In other
 * sessions nothing reads these two, and they are defined so that a configuration file may have them.
 */
static void
define_service(void)
{
	GucContext	context = process_shared_preload_libraries_in_progress ? PGC_POSTMASTER : PGC_SIGHUP;

	DefineCustomBoolVariable("mgpu.service",
							 "Lets one process drive the GPUs for all sessions.",
							 "It takes effect where mgpu_pg is in shared_preload_libraries and there is a GPU.",
							 &mgpu_setting_service, true,
							 context, 0, NULL, NULL, NULL);
	DefineCustomIntVariable("mgpu.service_memory",
							"Shared memory through which sessions reach the GPUs.",
							NULL,
							&mgpu_setting_service_memory, 256, MGPU_SIZE(16, 1), 1024 * 1024,
							context, GUC_UNIT_MB, NULL, NULL, NULL);
	DefineCustomIntVariable("mgpu.service_buffers",
							"How much of shared_buffers GPUs may read where it is.",
							"The memory is pinned when it is first read.  Of pages elsewhere, copies are read.  "
							"-1 means all, 0 none.",
							&mgpu_setting_service_buffers, -1, -1, INT_MAX / 128,
							context, GUC_UNIT_MB, NULL, NULL, NULL);
}

static void
define_cache(void)
{
	GucContext	context = process_shared_preload_libraries_in_progress ? PGC_POSTMASTER : PGC_SIGHUP;

	DefineCustomIntVariable("mgpu.gpu_cache",
							"Memory of a GPU for pages of tables that stay there.",
							"It is taken when a GPU first reads a table.  -1 means half of what is free then, 0 none.",
							&mgpu_setting_gpu_cache, -1, -1, INT_MAX,
							context, GUC_UNIT_MB, NULL, NULL, NULL);
	DefineCustomBoolVariable("mgpu.enable_gpu_cache",
							 "Lets GPUs keep pages of tables, and read those that they have.",
							 NULL,
							 &mgpu_setting_enable_gpu_cache, true,
							 PGC_USERSET, 0, NULL, NULL, NULL);
}

/*
 * Tell whoever creates the extension what preloading gains.  PostgreSQL silences notices of the
 * script, so this one comes when the transaction ends.
 */
static void
tell_of_preloading(XactEvent event, void *arg)
{
	static bool done = false;

	if (done || (event != XACT_EVENT_PRE_COMMIT && event != XACT_EVENT_ABORT))
		return;
	done = true;
	if (event == XACT_EVENT_PRE_COMMIT)
		ereport(NOTICE,
				(errmsg("mgpu_pg is not preloaded"),
				 errdetail("A session loads it with its first call of mgpu_pg. Until then, plain SQL does not use its plans, and its settings are not known."),
				 errhint("%s", mgpu_engine_is_built() ?
						 "Add mgpu_pg to shared_preload_libraries and restart the server, so that a GPU reads tables for all sessions. With session_preload_libraries, which needs no restart, plans run on the CPU." :
						 "Add mgpu_pg to session_preload_libraries, which needs no restart, or to shared_preload_libraries, with which calls are counted.")));
}

void
_PG_init(void)
{
	if (creating_extension)
		RegisterXactCallback(tell_of_preloading, NULL);
	threads_reserve_stack();
	define_choices();
	define_nodes();
	define_reading();
	define_limits();
	define_service();
	define_cache();
	MarkGUCPrefixReserved("mgpu");
	nodes_init();
	group_path_init();
	top_path_init();
	hashed_loops_init();
	join_search_init();
	scan_offer_init();
	mgpu_add_query_hooks(not_in_rewrite, correlated_rewrite, correlated_is_better);
	index_build_init();
	service_init();
}
