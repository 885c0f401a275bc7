"""Plots of what test/bench/kernels measured: plot_kernels.py DIR NAME

NAME-kernels-sort.png: keys a second against the number of keys, our sorts and
CUB's; NAME-kernels-segments.png: milliseconds against the mean length of a
segment, ours, the fastest of CUB's, and a device copy of the keys.
"""

import collections
import csv
import os
import sys

import matplotlib

matplotlib.use('Agg')
import matplotlib.pyplot as plt

COLOURS = {'mgpu merge': '#1f77b4', 'mgpu radix': '#6baed6', 'mgpu auto': '#17457a',
           'CUB merge': '#ff7f0e', 'CUB radix': '#d62728'}
KEYS = (('u32', '0', '4-byte keys'), ('u64', '0', '8-byte keys'), ('u32', '1', '4-byte keys with index'),
        ('u64', '1', '8-byte keys with index'))
SEGMENTED = (('int4', '4-byte keys'), ('int4 with indices', '4-byte keys with index'))


def read_table(path):
    """The heading's comment, and a dictionary a line."""
    with open(path, newline='') as file:
        title = file.readline().lstrip('# ').strip()
        return title, list(csv.DictReader(file))


def plot_sorts(directory, name):
    title, lines = read_table(os.path.join(directory, f'{name}-kernel_bench.csv'))
    figure, axes = plt.subplots(1, len(KEYS), figsize=(18, 4.4), sharey=True)
    for axis, (keys, indexed, label) in zip(axes, KEYS):
        curves = collections.defaultdict(list)
        for line in lines:
            if (line['input'], line['keys'], line['indexed']) == ('random', keys, indexed):
                curves[line['sort'].split(':')[0]].append((int(line['items']), float(line['gkeys_per_s'])))
        for sort, points in curves.items():
            axis.plot(*zip(*sorted(points)), marker='o', markersize=4, label=sort, color=COLOURS[sort],
                      linestyle='-' if sort.startswith('mgpu') else '--')
        axis.set(title=label, xlabel='keys, in random order', xscale='log')
        axis.grid(alpha=0.3)
    axes[0].set_ylabel('Gkeys/s')
    axes[0].legend()
    figure.suptitle(title, fontsize=8)
    figure.tight_layout()
    figure.savefig(os.path.join(directory, f'{name}-kernels-sort.png'), dpi=90)


def mean_of(case, shape):
    """The mean length that a case's name tells, or None for another shape or no mean."""
    start = f'{shape}, mean '
    return int(case[len(start):]) if case.startswith(start) else None


def plot_segments(directory, name):
    title, lines = read_table(os.path.join(directory, f'{name}-kernel_segmented_bench.csv'))
    sizes = sorted({int(line['items']) for line in lines})
    figure, axes = plt.subplots(len(SEGMENTED), len(sizes), figsize=(15, 8), sharex=True)
    for row, (shape, label) in zip(axes, SEGMENTED):
        for axis, size in zip(row, sizes):
            points = []
            for line in lines:
                mean = mean_of(line['case'], shape)
                if mean is not None and int(line['items']) == size:
                    ours = float(line['ms'])
                    points.append((mean, ours, ours * float(line['best_rival_ratio']), float(line['copy_ms'])))
            means, ours, rivals, copies = zip(*sorted(points))
            axis.plot(means, ours, marker='o', markersize=4, label='mgpu', color=COLOURS['mgpu merge'])
            axis.plot(means, rivals, marker='o', markersize=4, label='best of CUB', color=COLOURS['CUB merge'],
                      linestyle='--')
            axis.plot(means, copies, label='device copy of the keys', color='grey', linewidth=1)
            axis.set(title=f'{size // 1000000}M {label}', xscale='log', yscale='log')
            axis.grid(alpha=0.3)
        row[0].set_ylabel('ms')
    for axis in axes[-1]:
        axis.set_xlabel('mean length of a segment')
    axes[0][0].legend()
    figure.suptitle(title, fontsize=8)
    figure.tight_layout()
    figure.savefig(os.path.join(directory, f'{name}-kernels-segments.png'), dpi=90)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    plot_sorts(*sys.argv[1:])
    plot_segments(*sys.argv[1:])


main()
