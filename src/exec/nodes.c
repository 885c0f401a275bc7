/*
 * nodes.c
 *		The plan nodes.
 */
#include "postgres.h"

#include "compat.h"
#include "exec/nodes.h"
#include "query/custom_plan.h"

void
nodes_init(void)
{
	query_init();
	custom_plan_register(QUERY_GROUP, &group_scan_methods);
	custom_plan_register(QUERY_ROWS, &rows_scan_methods);
	custom_plan_register(QUERY_TOP, &top_scan_methods);
	custom_plan_register(QUERY_SORT, &sort_scan_methods);
	custom_plan_register(QUERY_WINDOW, &window_scan_methods);
}
