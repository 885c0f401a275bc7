/*
 * sort/k_way_search.cuh
 *		The search for a cut of a k-way pass: how many items of each run are before it.
 *
 * A lane has one run and a window [low, high) in it: items before low are in, items from high on
 * are out.  In each round all lanes look for a pivot key in their windows, and the sum of the
 * items before it tells on which side of it the cut is.  Pivots come from the ends of windows and
 * from the item that each run names:
 *
 *	 median		of the named items, weighted by the windows' items: two rounds for random keys
 *	 model		if the median is in less than half of the windows, as in nearly sorted keys: the
 *				key at the cut if keys rose evenly between the known ones
 *
 * A lane finds the pivot by two probes at a time, on both sides of the interpolated place, then by
 * growing distances, then by thirds.  Rejected: single probes, a fifth more dependent loads.  All
 * of this runs on the host too, where a test plays all lanes.
 */
#ifndef MGPU_SORT_K_WAY_SEARCH_CUH
#define MGPU_SORT_K_WAY_SEARCH_CUH

#include "device/arithmetic.cuh"
#include "device/array.cuh"
#include "sort/k_way_pass.cuh"

#define MGPU_K_WAY_GUESSES 4		/* rounds before the first one that names middles */
#define MGPU_K_WAY_HALVINGS 24	/* at most, to find a model's pivot */
#define MGPU_K_WAY_FEW 24		/* items among which probes are at thirds: a sector or a few */

/* How many items may be before the cut at a tile's begin, if the tile is not the first of its group. */
struct mgpu_k_way_goal
{
	uint32_t	least;
	uint32_t	most;
};

MGPU_HOST_DEVICE mgpu_k_way_goal
mgpu_find_k_way_goal(const mgpu_k_way_pass &pass, const mgpu_k_way_group &group)
{
	uint32_t	diagonal = group.place * pass.tile_items;

	return {diagonal - (MGPU_K_WAY_SLACK < diagonal ? MGPU_K_WAY_SLACK : diagonal), diagonal};
}

/* The state of a search: a run's window, and the sums of all runs' low and high. */
struct mgpu_k_way_window
{
	uint32_t	low;
	uint32_t	high;
	uint32_t	low_sum;		/* less than the goal's least */
	uint32_t	high_sum;		/* more than the goal's most */
};

/* Which item of its window does a run name in this round? The window is not empty. */
MGPU_HOST_DEVICE uint32_t
mgpu_name_item(const mgpu_k_way_window &window, const mgpu_k_way_goal &goal, int round)
{
	uint32_t	items = window.high - window.low;
	float		part = (float) (goal.least / 2 + goal.most / 2 - window.low_sum) /
		(float) (window.high_sum - window.low_sum);
	uint32_t	step = round < MGPU_K_WAY_GUESSES || round % 2 == 0 ? (uint32_t) ((float) items * part) : items / 2;

	return window.low + (step < items ? step : items - 1);
}

/* Does a probe of another run come before this key?  Equal keys go by run. */
template <typename Key>
MGPU_HOST_DEVICE bool
mgpu_probe_before(Key probe, Key key, bool earlier_run)
{
	return probe < key || (earlier_run && probe == key);
}

/*
 * Is a named item the median, if windows have items_before items before its own window, in the
 * order of the named items?
 */
MGPU_HOST_DEVICE bool
mgpu_is_median(const mgpu_k_way_window &window, uint32_t items, uint32_t items_before)
{
	uint32_t	middle = (window.high_sum - window.low_sum) / 2;

	return items > 0 && items_before <= middle && middle - items_before < items;
}

/*
 * What a run knows of its window, which is not empty: the keys at both ends, of the named item and
 * of its neighbours.
 */
template <typename Key>
struct mgpu_k_way_keys
{
	uint32_t	named;
	Key			first;
	Key			before;
	Key			key;			/* of the item named */
	Key			behind;
	Key			last;
};

/* The neighbours' places; at an end of the window, the named item's own. */
MGPU_HOST_DEVICE uint32_t
mgpu_place_before(const mgpu_k_way_window &window, uint32_t named)
{
	return named > window.low ? named - 1 : named;
}

MGPU_HOST_DEVICE uint32_t
mgpu_place_behind(const mgpu_k_way_window &window, uint32_t named)
{
	return named + 1 < window.high ? named + 1 : named;
}

/* A run's keys in memory. */
template <class Keys>
struct mgpu_k_way_run
{
	typedef mgpu_key_of<Keys> Key;

	Keys		keys;

	MGPU_MEMBER Key
	load(uint32_t place) const
	{
		return keys[place];
	}
};

/* All five loads are under way together. */
template <class Run>
MGPU_HOST_DEVICE mgpu_k_way_keys<typename Run::Key>
mgpu_load_k_way_keys(Run &run, const mgpu_k_way_window &window, uint32_t named)
{
	return {named, run.load(window.low), run.load(mgpu_place_before(window, named)), run.load(named),
		run.load(mgpu_place_behind(window, named)), run.load(window.high - 1)};
}

/* Interpolation: how far `key` lies between a and b, which is larger, from 0 to 1. */
template <typename Key>
MGPU_HOST_DEVICE float
mgpu_part_between(Key a, Key b, Key key)
{
	return mgpu_guess_quotient((float) (Key) (key - a), (float) (Key) (b - a));
}

/* Items of a run before a key, if keys rise evenly from one known key to the next. */
template <typename Key>
MGPU_HOST_DEVICE uint32_t
mgpu_expect_before(const mgpu_k_way_window &window, const mgpu_k_way_keys<Key> &keys, Key key)
{
	if (window.low == window.high || !(keys.first < key))
		return window.low;
	if (keys.last < key)
		return window.high;
	if (!(keys.key < key))
		return window.low + (uint32_t) ((float) (keys.named - window.low) * mgpu_part_between(keys.first, keys.key, key));
	return keys.named +
		(uint32_t) ((float) (window.high - keys.named) * mgpu_part_between(keys.key, keys.last, key));
}

/* One halving of the range (low, high] of keys with a model's pivot.  True: middle will do. */
template <typename Key>
MGPU_HOST_DEVICE bool
mgpu_halve_pivots(Key &low, Key &high, Key middle, const mgpu_k_way_goal &goal, uint32_t expected_sum)
{
	if (expected_sum < goal.least)
		low = middle;
	else
		high = middle;
	return (expected_sum >= goal.least && expected_sum <= goal.most) || high - low <= 1;
}

/* The search for a pivot's place in a window. */
template <typename Key>
struct mgpu_k_way_bracket
{
	uint32_t	low;			/* the last item known to be before the pivot */
	uint32_t	high;			/* the first item known not to be */
	Key			low_key;
	Key			high_key;
	uint32_t	reach;			/* of the next probes, from an end; 0: they interpolate, or are at thirds */
	bool		upward;			/* from the low end */
	bool		even;			/* keys seem to rise evenly */
};

/* Places of the next two probes, in order.  Equal if one place is left. */
struct mgpu_k_way_probes
{
	uint32_t	first;
	uint32_t	second;
};

template <typename Key>
MGPU_HOST_DEVICE void
mgpu_narrow_to(mgpu_k_way_bracket<Key> &bracket, uint32_t place, Key key, Key pivot)
{
	if (key < pivot && place > bracket.low && place < bracket.high)
	{
		bracket.low = place;
		bracket.low_key = key;
	}
	if (!(key < pivot) && place < bracket.high && place > bracket.low)
	{
		bracket.high = place;
		bracket.high_key = key;
	}
}

/* The window's first key is before the pivot, its last one is not. */
template <typename Key>
MGPU_HOST_DEVICE mgpu_k_way_bracket<Key>
mgpu_start_k_way_bracket(const mgpu_k_way_window &window, const mgpu_k_way_keys<Key> &keys, Key pivot)
{
	mgpu_k_way_bracket<Key> bracket = {window.low, window.high - 1, keys.first, keys.last, 0, false, true};

	mgpu_narrow_to(bracket, mgpu_place_before(window, keys.named), keys.before, pivot);
	mgpu_narrow_to(bracket, keys.named, keys.key, pivot);
	mgpu_narrow_to(bracket, mgpu_place_behind(window, keys.named), keys.behind, pivot);
	return bracket;
}

/* Probes on both sides of the interpolated place. */
template <typename Key>
MGPU_HOST_DEVICE mgpu_k_way_probes
mgpu_probe_in_proportion(const mgpu_k_way_bracket<Key> &bracket, Key pivot)
{
	uint32_t	items = bracket.high - bracket.low;
	float		expected = (float) items * mgpu_part_between(bracket.low_key, bracket.high_key, pivot);
	float		nearer = expected < (float) items - expected ? expected : (float) items - expected;
	float		spread = 1.5f * mgpu_guess_root(nearer > 0 ? nearer : 0) + 1;
	uint32_t	first = expected - spread > 1 ? (uint32_t) (expected - spread) : 1;
	uint32_t	second = (uint32_t) (expected + spread);

	first = first < items ? first : items - 1;
	second = second < items ? second : items - 1;
	return {bracket.low + first, bracket.low + second};
}

/*
 * Round a place that is `distance` from another, by at most a quarter of that, to a multiple of a
 * power of two.  So tiles whose cuts are among the same equal keys read the same sectors, which the
 * cache has.
 */
MGPU_HOST_DEVICE uint32_t
mgpu_round_place(uint32_t place, uint32_t distance)
{
	return distance < 16 ? place : place & ~((1u << (mgpu_highest_bit(distance) - 2)) - 1);
}

/* There are items between the bracket's ends. */
template <typename Key>
MGPU_HOST_DEVICE mgpu_k_way_probes
mgpu_place_k_way_probes(mgpu_k_way_bracket<Key> &bracket, Key pivot)
{
	uint32_t	items = bracket.high - bracket.low;
	uint32_t	third = items < 6 ? 1 : items / 3;
	uint32_t	near = bracket.reach;
	uint32_t	far = near < items / 8 ? near * 4 : near;

	if (near >= items / 2)
		bracket.reach = near = 0;
	if (near == 0 && bracket.even && items > MGPU_K_WAY_FEW)
		return mgpu_probe_in_proportion(bracket, pivot);
	if (near == 0)
		return {mgpu_round_place(bracket.low + third, third), mgpu_round_place(bracket.high - third, third)};
	if (bracket.upward)
		return {mgpu_round_place(bracket.low + near, near), mgpu_round_place(bracket.low + far, far)};
	return {mgpu_round_place(bracket.high - far, far), mgpu_round_place(bracket.high - near, near)};
}

/* The probes' keys are known. */
template <typename Key>
MGPU_HOST_DEVICE void
mgpu_narrow_k_way_bracket(mgpu_k_way_bracket<Key> &bracket, const mgpu_k_way_probes &probes, Key first_key, Key second_key,
						  Key pivot)
{
	bool		is_below = !(first_key < pivot);
	bool		is_above = !is_below && second_key < pivot;

	bracket.low = is_above ? probes.second : is_below ? bracket.low : probes.first;
	bracket.low_key = is_above ? second_key : is_below ? bracket.low_key : first_key;
	bracket.high = is_below ? probes.first : is_above ? bracket.high : probes.second;
	bracket.high_key = is_below ? first_key : is_above ? bracket.high_key : second_key;
	if (bracket.reach > 0)
		bracket.reach = (bracket.upward ? is_above : is_below) ? bracket.reach * 16 : 0;
	else if (bracket.even && (is_above || is_below))
	{
		bracket.even = false;
		bracket.upward = is_above;
		bracket.reach = 2 * (probes.second - probes.first) + 2;
	}
}

/* Where a pivot is in a run: the items before it, and does the item there equal it? */
struct mgpu_k_way_place
{
	uint32_t	before;
	bool		is_equal;
};

template <class Run, typename Key>
MGPU_HOST_DEVICE mgpu_k_way_place
mgpu_find_k_way_place(Run &run, const mgpu_k_way_window &window, const mgpu_k_way_keys<Key> &keys, Key pivot)
{
	mgpu_k_way_bracket<Key> bracket;

	if (window.low == window.high || keys.last < pivot)
		return {window.high, false};
	if (!(keys.first < pivot))
		return {window.low, keys.first == pivot};
	bracket = mgpu_start_k_way_bracket(window, keys, pivot);
	while (bracket.high - bracket.low > 1)
	{
		mgpu_k_way_probes probes = mgpu_place_k_way_probes(bracket, pivot);
		Key			first_key = run.load(probes.first);
		Key			second_key = run.load(probes.second);

		mgpu_narrow_k_way_bracket(bracket, probes, first_key, second_key, pivot);
	}
	return {bracket.high, bracket.high_key == pivot};
}

/* Items of a run up to a pivot and its equals: those before the next larger key. */
template <class Run, typename Key>
MGPU_HOST_DEVICE uint32_t
mgpu_find_k_way_equals(Run &run, mgpu_k_way_window window, mgpu_k_way_keys<Key> keys, Key pivot, uint32_t before)
{
	if (!(pivot < keys.last))
		return window.high;
	window.low = before;
	keys.first = pivot;
	return mgpu_find_k_way_place(run, window, keys, (Key) (pivot + 1)).before;
}

/* What a round found: items before the pivot, of this run and of all, and items that equal it. */
struct mgpu_k_way_sums
{
	uint32_t	before;
	uint32_t	sum;
	uint32_t	equals;
	uint32_t	earlier_equals;	/* in runs before this one */
	uint32_t	equals_sum;
};

/* Is the cut before the pivot, among its equals, or behind them? Narrows the window if it is not found. */
MGPU_HOST_DEVICE bool
mgpu_end_k_way_round(mgpu_k_way_window &window, const mgpu_k_way_goal &goal, const mgpu_k_way_sums &sums, uint32_t &split)
{
	split = sums.before;
	if (sums.sum > goal.most)
	{
		window.high = sums.before;
		window.high_sum = sums.sum;
		return false;
	}
	if (sums.sum < goal.least)
	{
		uint32_t	spare = goal.most - sums.sum;	/* may equal the pivot */

		spare = spare > sums.earlier_equals ? spare - sums.earlier_equals : 0;
		split += sums.equals < spare ? sums.equals : spare;
		window.low = sums.before + sums.equals;
		window.low_sum = sums.sum + sums.equals_sum;
		return window.low_sum >= goal.least;
	}
	return true;
}

#endif							/* MGPU_SORT_K_WAY_SEARCH_CUH */
