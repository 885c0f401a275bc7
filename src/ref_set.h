/*
 * ref_set.h
 *		References to elements, each once and in ascending order, a bit each.
 *
 * A list of them takes up to 32 times as much, beside one in another order that a
 * sort is about to make.
 */
#ifndef MGPU_REF_SET_H
#define MGPU_REF_SET_H

/* Numbers whose references are noted. */
#define REF_SET_STEP 512

/* Memory is palloc'd by ref_set_start and given back by ref_set_free. */
typedef struct ref_set
{
	uint64	   *words;
	uint32	   *begins;			/* the reference of each REF_SET_STEP'th */
} ref_set;

/* Room for num_refs references below limit, which ref_set_add then brings in their order. */
extern void ref_set_start(ref_set *set, int64 num_refs, Size limit);
extern void ref_set_free(ref_set *set);

/* What a set takes. */
extern Size ref_set_bytes(int64 num_refs, Size limit);

/* ref is that of number i of the set. */
static inline void
ref_set_add(ref_set *set, int64 i, uint32 ref)
{
	set->words[ref / 64] |= UINT64CONST(1) << (ref % 64);
	if (i % REF_SET_STEP == 0)
		set->begins[i / REF_SET_STEP] = ref;
}

/* Those from number begin on.  Allowed in threads. */
extern void ref_set_list(const ref_set *set, int64 begin, uint32 num_refs, uint32 *refs);

#endif							/* MGPU_REF_SET_H */
