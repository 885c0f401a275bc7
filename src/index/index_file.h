/*
 * index_file.h
 *		Writes the pages of a new index to its file and to WAL.
 */
#ifndef MGPU_INDEX_FILE_H
#define MGPU_INDEX_FILE_H

#include "storage/bufpage.h"
#include "utils/rel.h"

typedef struct index_file index_file;

extern index_file *index_file_open(Relation index);

/* A page to fill. */
extern Page index_file_page(index_file *file);

/* Write a page, which the caller does not touch again.  Pages may come in any order, each once. */
extern void index_file_write(index_file *file, BlockNumber block, Page page);

/* Write what is left, and make it durable. */
extern void index_file_close(index_file *file);

#endif							/* MGPU_INDEX_FILE_H */
