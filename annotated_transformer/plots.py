"""The figures of the book: one call each, one look for all."""

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter, ScalarFormatter
from torch import Tensor

# Okabe and Ito's colours, which stay apart for colour-blind eyes, in a fixed order.
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"]
MARKERS = ["o", "s", "^", "D", "v", "P", "X"]
DASHES = ["-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1))]


def figure(title: str, width: float, height: float, **grid: Any) -> tuple[Figure, Any]:
    """An empty figure in the book's style, with its axes."""
    with plt.rc_context({"font.family": "DejaVu Sans", "font.size": 9.5}):
        made, axes = plt.subplots(
            figsize=(width, height), layout="constrained", facecolor="white", **grid
        )
    made.suptitle(
        "\n".join(
            textwrap.wrap(title, max(24, int(9 * width)), break_on_hyphens=False)
        ),
        fontsize=11,
    )
    plt.close(made)  # a notebook would show an open figure a second time
    for one in np.atleast_1d(axes).flat:
        one.spines[["top", "right"]].set_visible(False)
    return made, axes


def as_array(values: Any) -> np.ndarray:
    """Numbers of any kind as an array."""
    if isinstance(values, Tensor):
        return values.detach().float().cpu().numpy()
    return np.asarray(values, dtype=float)


def name_cells(axes: Axes, rows: Sequence[str], columns: Sequence[str]) -> None:
    """Names at the rows and columns of a grid of cells."""
    axes.set_xticks(range(len(columns)), columns, rotation=90)
    axes.set_yticks(range(len(rows)), rows)
    axes.spines[:].set_visible(False)


def heatmap(
    weights: Tensor, rows: Sequence[str], columns: Sequence[str], title: str
) -> Figure:
    """Attention weights, T S, on a scale of 0 to 1: rows are queries, columns keys."""
    made, axes = figure(title, 2.9 + 0.33 * len(columns), 2 + 0.33 * len(rows))
    image = axes.imshow(
        as_array(weights), cmap="cividis", vmin=0, vmax=1, aspect="auto"
    )
    name_cells(axes, rows, columns)
    axes.set(xlabel="key (attended to)", ylabel="query (attends)")
    made.colorbar(image, label="attention weight")
    return made


def heads(
    weights: Tensor, rows: Sequence[str], columns: Sequence[str], title: str
) -> Figure:
    """The weights of all heads of a layer, H T S, side by side on one scale."""
    count = len(weights)
    across = min(count, 2)  # more would be too small on a phone
    down = -(-count // across)
    height = 0.9 + down * (1.5 + 0.2 * len(rows))
    made, axes = figure(title, 6.6, height, nrows=down, ncols=across, squeeze=False)
    for number, one in enumerate(axes.flat):
        if number >= count:
            one.set_axis_off()
            continue
        image = one.imshow(
            as_array(weights[number]), cmap="cividis", vmin=0, vmax=1, aspect="auto"
        )
        name_cells(one, rows if number % across == 0 else [""] * len(rows), columns)
        one.set_title(f"head {number + 1}", fontsize=9.5)
    made.supxlabel("key (attended to)", fontsize=9.5)
    made.supylabel("query (attends)", fontsize=9.5)
    made.colorbar(image, ax=axes, label="attention weight", shrink=0.8)
    return made


def layers_and_heads(weights: Tensor, title: str) -> Figure:
    """Weights of every layer and head, L H T S, as small pictures without names."""
    layers, count = weights.shape[:2]
    size = (1 + 1.2 * count, 1 + 1.2 * layers)
    made, axes = figure(title, *size, nrows=layers, ncols=count, squeeze=False)
    for (layer, head), one in np.ndenumerate(axes):
        image = as_array(weights[layer, head])
        one.imshow(image, cmap="cividis", vmin=0, vmax=1, aspect="auto")
        one.set(xticks=[], yticks=[])
        if layer == 0:
            one.set_title(f"head {head + 1}", fontsize=9.5)
        if head == 0:
            one.set_ylabel(f"layer {layer + 1}")
    made.supxlabel("key (attended to)", fontsize=9.5)
    made.supylabel("query (attends)", fontsize=9.5)
    return made


def mask(
    allowed: Tensor,
    title: str,
    rows: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
) -> Figure:
    """A mask, T S: where a query, a row, may attend to a key, a column."""
    cells = as_array(allowed)
    rows = rows or [str(i) for i in range(cells.shape[0])]
    columns = columns or [str(j) for j in range(cells.shape[1])]
    made, axes = figure(title, 2.2 + 0.36 * len(columns), 1.8 + 0.36 * len(rows))
    axes.imshow(cells, cmap="cividis", vmin=0, vmax=1)
    for (i, j), value in np.ndenumerate(cells):
        ink = "black" if value else "white"
        axes.text(j, i, "yes" if value else "no", ha="center", va="center", color=ink)
    name_cells(axes, rows, columns)
    axes.set(xlabel="key", ylabel="query")
    return made


def masks(named: Mapping[str, Tensor], title: str) -> Figure:
    """Several masks of one size, T S, side by side under their names."""
    made, axes = figure(title, 2.6 * len(named), 3.3, ncols=len(named), squeeze=False)
    for one, (name, allowed) in zip(axes.flat, named.items(), strict=True):
        one.imshow(as_array(allowed), cmap="cividis", vmin=0, vmax=1)
        one.set(title=name, xlabel="key (light: may be read)")
        one.spines[:].set_visible(False)
    axes.flat[0].set_ylabel("query (position)")
    return made


def tokens(
    rows: Sequence[Sequence[str]],
    title: str,
    padding: str = "<pad>",
    ylabel: str = "sentence",
) -> Figure:
    """A batch as a grid of pieces; cells that hold padding are dark."""
    width = max(map(len, rows))
    blank = np.array(
        [[row[j : j + 1] in ([padding], []) for j in range(width)] for row in rows]
    )
    made, axes = figure(title, min(10, 1.2 + 0.72 * width), 1.4 + 0.36 * len(rows))
    axes.imshow(1 - 0.75 * blank, cmap="cividis", vmin=0, vmax=1, aspect="auto")
    for i, row in enumerate(rows):
        for j, piece in enumerate(row):
            ink = "white" if blank[i, j] else "black"
            axes.text(j, i, piece, ha="center", va="center", color=ink, fontsize=9)
    name_cells(
        axes, [str(i + 1) for i in range(len(rows))], [str(j) for j in range(width)]
    )
    axes.tick_params(axis="x", rotation=0)
    axes.set(xlabel="position", ylabel=ylabel)
    return made


def lines(
    series: Mapping[str, Any],
    title: str,
    xlabel: str,
    ylabel: str,
    x: Any = None,
    log: str = "",
    marked: bool = False,
) -> Figure:
    """Curves with their names at their ends.

    Args:
        series: name to values; or name to a pair of x and values.
        x: shared by all, where series hold values only; default 0, 1, 2, ...
        log: "x", "y" or "xy" for logarithmic axes.
        marked: draw each point.
    """
    made, axes = figure(title, 7, 3.8)
    ends = []
    for number, (name, given) in enumerate(series.items()):
        paired = isinstance(given, tuple)
        values = as_array(given[1] if paired else given)
        places = as_array(
            given[0] if paired else range(len(values)) if x is None else x
        )
        style = {"color": COLOURS[number % 7], "linestyle": DASHES[number % 7]}
        axes.plot(
            places,
            values,
            label=name,
            marker=MARKERS[number % 7] if marked else "",
            markersize=4,
            **style,
        )
        ends.append((places[-1], values[-1], name, style["color"]))
    axes.set(xlabel=xlabel, ylabel=ylabel)
    axes.set_xscale("log" if "x" in log else "linear")
    axes.set_yscale("log" if "y" in log else "linear")
    axes.grid(alpha=0.25)
    if len(series) > 1:
        label_ends(axes, ends)
    return made


def label_ends(axes: Axes, ends: list[tuple]) -> None:
    """Names right of the axes, at the height of their lines, moved apart if need be."""
    scale = axes.yaxis.get_transform().transform
    low, high = scale(np.array(axes.get_ylim()))
    heights = [(scale(np.array([y]))[0] - low) / (high - low) for _, y, _, _ in ends]
    least = -1.0
    for index in np.argsort(heights):
        least = max(min(max(heights[index], 0), 1), least + 0.075)
        _, _, name, colour = ends[index]
        axes.annotate(
            name,
            (1.01, least),
            xycoords="axes fraction",
            color=colour,
            va="center",
            annotation_clip=False,
        )


def signed(values: Tensor, title: str, xlabel: str, ylabel: str, label: str) -> Figure:
    """Signed values as an image about zero, the same reach both ways."""
    cells = as_array(values)
    reach = max(abs(cells).max(), 1e-9)
    made, axes = figure(title, 7, 3.8)
    image = axes.imshow(
        cells,
        cmap="PuOr",
        vmin=-reach,
        vmax=reach,
        aspect="auto",
        interpolation="nearest",
    )
    axes.set(xlabel=xlabel, ylabel=ylabel)
    axes.spines[:].set_visible(False)
    made.colorbar(image, label=label)
    return made


def histograms(
    named: Mapping[str, Any],
    title: str,
    xlabel: str,
    ylabel: str = "share",
    bins: int = 40,
) -> Figure:
    """Distributions on one scale, as outlines with a name each."""
    arrays = {name: as_array(values).ravel() for name, values in named.items()}
    low = min(values.min() for values in arrays.values())
    high = max(values.max() for values in arrays.values())
    edges = np.linspace(low, high, bins + 1)
    made, axes = figure(title, 7, 3.6)
    for number, (name, values) in enumerate(arrays.items()):
        shares = np.histogram(values, edges)[0] / len(values)
        axes.stairs(
            shares,
            edges,
            label=name,
            color=COLOURS[number % 7],
            linestyle=DASHES[number % 7],
            linewidth=1.6,
        )
    axes.set(xlabel=xlabel, ylabel=ylabel)
    axes.legend(frameon=False)
    return made


def bars(values: Mapping[str, float], title: str, xlabel: str) -> Figure:
    """One number a name, as horizontal bars with the number at the end."""
    made, axes = figure(title, 7, 1.2 + 0.36 * len(values))
    names = list(values)[::-1]
    drawn = axes.barh(names, [values[name] for name in names], color=COLOURS[0])
    axes.bar_label(drawn, fmt="{:,.4g}", padding=3)
    axes.margins(x=0.12)
    axes.set(xlabel=xlabel)
    return made


def stacked_bars(
    parts: Mapping[str, Mapping[str, float]], title: str, xlabel: str
) -> Figure:
    """For each bar its parts, end to end; every bar has the same parts.

    Args:
        parts: bar to part to size.
    """
    made, axes = figure(title, 7, 1.6 + 0.45 * len(parts))
    names = list(parts)[::-1]
    left = np.zeros(len(names))
    for number, part in enumerate(next(iter(parts.values()))):
        sizes = np.array([parts[name][part] for name in names])
        axes.barh(
            names,
            sizes,
            left=left,
            label=part,
            color=COLOURS[number % 7],
            edgecolor="white",
        )
        left += sizes
    axes.set(xlabel=xlabel)
    made.legend(frameon=False, ncols=3, loc="outside lower center")
    return made


def training_curves(history: Sequence[Mapping[str, Any]], title: str) -> Figure:
    """Loss, development perplexity and rate against the step, of a training log."""
    made, axes = figure(title, 6.5, 6.5, nrows=3, sharex=True)
    for one, key, ylabel in zip(
        axes,
        ("loss", "perplexity", "rate"),
        ("training loss\n(nats per token)", "development\nperplexity", "rate"),
        strict=True,
    ):
        entries = [entry for entry in history if key in entry]
        one.plot(
            [e["step"] for e in entries],
            [e[key] for e in entries],
            marker="o",
            markersize=3,
            color=COLOURS[0],
        )
        one.set_ylabel(ylabel)
        one.grid(alpha=0.25)
    axes[2].set_xlabel("step")
    axes[1].set_yscale("log")
    axes[1].yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes[1].yaxis.set_major_formatter(ScalarFormatter())
    axes[1].yaxis.set_minor_formatter(NullFormatter())
    return made


def distribution(named: Mapping[str, Any], labels: Sequence[str], title: str) -> Figure:
    """Probabilities of the same few classes, as groups of bars with a name each."""
    made, axes = figure(title, 7, 3.4)
    width = 0.8 / len(named)
    for number, (name, values) in enumerate(named.items()):
        places = np.arange(len(labels)) + (number - (len(named) - 1) / 2) * width
        drawn = axes.bar(
            places,
            as_array(values),
            width,
            label=name,
            color=COLOURS[number % 7],
            hatch=["", "//", ".."][number % 3],
            edgecolor="white",
        )
        axes.bar_label(drawn, fmt="{:.2f}", fontsize=9)
    axes.set_xticks(range(len(labels)), labels)
    axes.set(xlabel="class", ylabel="probability")
    axes.legend(frameon=False)
    return made


def alignment(
    source: Sequence[str], target: Sequence[str], pairs: Any, title: str
) -> Figure:
    """A sentence above, its translation below, lines between words that correspond."""
    longest = max(len(source), len(target))
    made, axes = figure(title, min(10, 1 + 0.95 * longest), 2.2)
    for i, j in sorted(pairs):
        axes.plot([i, j], [0.86, 0.14], color=COLOURS[0], linewidth=1.5)
    for words, height, side in ((source, 1.0, "bottom"), (target, 0.0, "top")):
        for place, word in enumerate(words):
            axes.text(
                place, height - 0.1 if height else 0.1, word, ha="center", va=side
            )
    axes.set(xlim=(-0.6, longest - 0.4), ylim=(-0.15, 1.15))
    axes.set_axis_off()
    return made


def beam_tree(nodes: Sequence[Mapping[str, Any]], title: str) -> Figure:
    """Hypotheses of a beam search as a tree: a column a step, the winner in colour.

    Args:
        nodes: each with id, parent (None for the root), token, finished, best.
    """
    depth = {None: -1}
    for node in nodes:  # parents come before children
        depth[node["id"]] = depth[node["parent"]] + 1
    columns: dict[int, int] = {}
    place = {}
    for node in sorted(nodes, key=lambda node: not node["best"]):
        column = depth[node["id"]]
        place[node["id"]] = (column, -columns.setdefault(column, 0))
        columns[column] += 1
    made, axes = figure(
        title, min(11, 1 + 0.8 * len(columns)), 1 + 0.42 * max(columns.values())
    )
    for node in nodes:
        x, y = place[node["id"]]
        colour = COLOURS[1] if node["best"] else "#777777"
        if node["parent"] is not None:
            before = place[node["parent"]]
            axes.plot(
                [before[0] + 0.3, x - 0.35],
                [before[1], y],
                color=colour,
                linewidth=2 if node["best"] else 0.8,
                zorder=1,
            )
        weight = "bold" if node["best"] or node["finished"] else "normal"
        axes.text(
            x,
            y,
            node["token"],
            ha="center",
            va="center",
            fontsize=9,
            color=colour,
            weight=weight,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 1},
        )
    axes.set(xlim=(-0.6, len(columns) - 0.4), xlabel="step", yticks=[])
    axes.set_ylim(-max(columns.values()), 0.8)
    axes.spines["left"].set_visible(False)
    return made


def bleu_definitions(scores: Mapping[str, float], title: str) -> Figure:
    """The scores of one set of translations, a dot for each definition of BLEU."""
    made, axes = figure(title, 7, 1.2 + 0.36 * len(scores))
    names = sorted(scores, key=scores.__getitem__)
    values = [scores[name] for name in names]
    axes.hlines(names, min(values) - 1, values, color="#bbbbbb")
    axes.plot(values, names, "o", color=COLOURS[0])
    for name, value in zip(names, values, strict=True):
        axes.annotate(
            f"{value:.2f}",
            (value, name),
            (7, 0),
            textcoords="offset points",
            va="center",
        )
    axes.margins(x=0.1, y=0.12)
    axes.set(xlabel="BLEU (the axis does not start at 0)")
    return made


def bands(
    series: Mapping[str, Any], title: str, xlabel: str, ylabel: str, log: str = ""
) -> Figure:
    """Mean and reach of several runs each, runs by places 1, 2, ... (one a seed)."""
    made, axes = figure(title, 7, 3.8)
    ends = []
    for number, (name, given) in enumerate(series.items()):
        runs, colour = as_array(given), COLOURS[number % 7]
        places, mean = np.arange(1, runs.shape[1] + 1), runs.mean(0)
        axes.fill_between(places, runs.min(0), runs.max(0), color=colour, alpha=0.25)
        style = {"linestyle": DASHES[number % 7], "marker": MARKERS[number % 7]}
        axes.plot(places, mean, color=colour, markersize=4, **style)
        ends.append((places[-1], mean[-1], name, colour))
    axes.set(xlabel=xlabel, ylabel=ylabel)
    axes.set_yscale("log" if "y" in log else "linear")
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.grid(alpha=0.25)
    label_ends(axes, ends)
    return made
