/*
 * kernel_host_cuts.cuh
 *		Searches for cuts of k-way passes played on the host, all lanes of a group in turn.
 */
#ifndef MGPU_KERNEL_HOST_CUTS_CUH
#define MGPU_KERNEL_HOST_CUTS_CUH

#include <algorithm>
#include <numeric>
#include <vector>

#include "device/array.cuh"
#include "sort/k_way_merge.cuh"

typedef std::vector<uint32_t> k_way_split;

/* Runs in which a cut is searched. */
template <class Keys>
struct k_way_runs
{
	std::vector<Keys> keys;
	std::vector<uint32_t> items;
};

/* A run that counts the loads of a round that wait for each other, and sees that all are within a window. */
template <class Keys>
struct watched_run
{
	typedef mgpu_key_of<Keys> Key;

	Keys		keys;
	mgpu_k_way_window window;
	int			loads = 0;
	bool		good = true;

	MGPU_MEMBER Key
	load(uint32_t place)
	{
		loads++;
		good = good && place >= window.low && place < window.high && loads < 1000;
		return good ? keys[place] : 0;	/* which ends any search */
	}
};

/* mgpu_model_pivot */
template <class Keys, typename Key>
static Key
play_model(const std::vector<watched_run<Keys>> &runs, const std::vector<mgpu_k_way_keys<Key>> &keys, const mgpu_k_way_goal &goal)
{
	Key			low = mgpu_largest_key<Key>();
	Key			high = 0;
	bool		done;

	for (size_t run = 0; run < runs.size(); run++)
	{
		if (runs[run].window.low == runs[run].window.high)
			continue;
		low = std::min(low, keys[run].first);
		high = std::max(high, keys[run].last);
	}
	done = high <= low || high - low <= 1;
	for (int step = 0; step < MGPU_K_WAY_HALVINGS && !done; step++)
	{
		Key			middle = low + (high - low) / 2;
		uint32_t	sum = 0;

		for (size_t run = 0; run < runs.size(); run++)
			sum += mgpu_expect_before(runs[run].window, keys[run], middle);
		done = mgpu_halve_pivots(low, high, middle, goal, sum);
	}
	return high;
}

/* mgpu_choose_pivot; false: there is no median, or there are two. */
template <class Keys, typename Key>
static bool
play_choice(const std::vector<watched_run<Keys>> &runs, const std::vector<mgpu_k_way_keys<Key>> &keys,
			const mgpu_k_way_goal &goal, int round, Key *pivot)
{
	int			medians = 0;
	int			windows = 0;
	int			with_pivot = 0;

	for (size_t run = 0; run < runs.size(); run++)
	{
		uint32_t	items = runs[run].window.high - runs[run].window.low;
		uint32_t	before = 0;

		for (size_t other = 0; other < runs.size(); other++)
			if (other != run && runs[other].window.low < runs[other].window.high &&
				mgpu_probe_before(keys[other].key, keys[run].key, other < run))
				before += runs[other].window.high - runs[other].window.low;
		windows += items > 0;
		if (items > 0 && mgpu_is_median(runs[run].window, items, before))
		{
			medians++;
			*pivot = keys[run].key;
		}
	}
	for (size_t run = 0; run < runs.size(); run++)
		with_pivot += runs[run].window.low < runs[run].window.high && keys[run].first <= *pivot && *pivot <= keys[run].last;
	if (round < MGPU_K_WAY_GUESSES && 2 * with_pivot < windows)
		*pivot = play_model(runs, keys, goal);
	return medians == 1;
}

/* How often all runs look for a key at a time, and how many loads wait for each other. */
struct search_costs
{
	int			rounds;
	int			steps;
};

/* mgpu_do_k_way_round for all lanes of a group.  False: something is wrong. */
template <class Keys>
static bool
play_round(std::vector<watched_run<Keys>> &runs, const mgpu_k_way_goal &goal, k_way_split &split, bool *found, search_costs *costs)
{
	typedef mgpu_key_of<Keys> Key;
	std::vector<mgpu_k_way_keys<Key>> keys(runs.size());
	std::vector<mgpu_k_way_place> places(runs.size());
	std::vector<mgpu_k_way_sums> sums(runs.size());
	mgpu_k_way_sums all = {};
	int			most_loads = 0;
	int			most_more_loads = 0;	/* for equals, once all know the sum */
	Key			pivot = 0;
	bool		good;

	for (size_t run = 0; run < runs.size(); run++)
		if (runs[run].window.low < runs[run].window.high)
			keys[run] = mgpu_load_k_way_keys(runs[run], runs[run].window, mgpu_name_item(runs[run].window, goal, costs->rounds));
	good = play_choice(runs, keys, goal, costs->rounds, &pivot);
	for (size_t run = 0; run < runs.size(); run++)
	{
		runs[run].loads = 0;
		places[run] = mgpu_find_k_way_place(runs[run], runs[run].window, keys[run], pivot);
		all.sum += places[run].before;
		most_loads = std::max(most_loads, runs[run].loads);
	}
	for (size_t run = 0; run < runs.size(); run++)
	{
		uint32_t	before = places[run].before;

		runs[run].loads = 0;
		sums[run].before = before;
		sums[run].sum = all.sum;
		sums[run].equals = places[run].is_equal && all.sum < goal.least ?
			mgpu_find_k_way_equals(runs[run], runs[run].window, keys[run], pivot, before) - before : 0;
		sums[run].earlier_equals = all.equals_sum;
		all.equals_sum += sums[run].equals;
		most_more_loads = std::max(most_more_loads, runs[run].loads);
		good = good && runs[run].good;
	}
	costs->rounds++;
	costs->steps += 1 + most_loads / 2 + most_more_loads / 2;
	for (size_t run = 0; run < runs.size(); run++)
	{
		mgpu_k_way_window before = runs[run].window;

		sums[run].equals_sum = all.equals_sum;
		*found = mgpu_end_k_way_round(runs[run].window, goal, sums[run], split[run]);
		good = good && before.low <= runs[run].window.low && runs[run].window.low <= runs[run].window.high &&
			runs[run].window.high <= before.high;
	}
	return good;
}

/* The search of a group, of so many rounds at most.  False: something is wrong. */
template <class Keys>
static bool
play_rounds(const k_way_runs<Keys> &runs, const mgpu_k_way_goal &goal, k_way_split *split, bool *found, search_costs *costs)
{
	std::vector<watched_run<Keys>> watched;
	uint32_t	num_items = std::accumulate(runs.items.begin(), runs.items.end(), 0u);

	for (size_t run = 0; run < runs.items.size(); run++)
		watched.push_back({runs.keys[run], {0, runs.items[run], 0, num_items}});
	split->resize(runs.items.size());
	*costs = {0, 0};
	for (*found = false; costs->rounds < MGPU_K_WAY_ROUNDS && !*found;)
		if (!play_round(watched, goal, *split, found, costs))
			return false;
	return true;
}

/* An empty split: something is wrong. */
template <class Keys>
static k_way_split
play_search(const k_way_runs<Keys> &runs, const mgpu_k_way_goal &goal, search_costs *costs)
{
	k_way_split	split;
	bool		found;

	return play_rounds(runs, goal, &split, &found, costs) && found ? split : k_way_split();
}

/* Is a split what sorting by (key, run, position) gives, and within its goal? */
template <class Keys>
static bool
is_k_way_split(const k_way_runs<Keys> &runs, const mgpu_k_way_goal &goal, const k_way_split &split)
{
	uint64_t	sum = 0;

	if (split.size() != runs.items.size())
		return false;
	for (size_t run = 0; run < split.size(); run++)
	{
		sum += split[run];
		if (split[run] > runs.items[run])
			return false;
		for (size_t other = 0; other < split.size() && split[run] > 0; other++)
			if (split[other] < runs.items[other] &&
				mgpu_probe_before(runs.keys[other][split[other]], runs.keys[run][split[run] - 1], other < run))
				return false;
	}
	return sum >= goal.least && sum <= goal.most;
}

#endif							/* MGPU_KERNEL_HOST_CUTS_CUH */
