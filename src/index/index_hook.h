/*
 * index_hook.h
 *		Has PostgreSQL call our build of btree indexes.
 */
#ifndef MGPU_INDEX_HOOK_H
#define MGPU_INDEX_HOOK_H

/* Called once, when the library is loaded. */
extern void index_build_init(void);

#endif							/* MGPU_INDEX_HOOK_H */
