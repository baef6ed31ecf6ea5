// Draws the charts of report.html, sorts its tables, changes its scheme. What is drawn was decided when
// the page was made; nothing is computed here but places and labels. Texts are only ever put in as text.
(() => {
  "use strict";
  const root = document.documentElement;
  const data = JSON.parse(document.getElementById("charts").textContent);
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];

  /** An element with a class and content. */
  function element(name, className, ...content) {
    const made = document.createElement(name);
    if (className) made.className = className;
    made.append(...content);
    return made;
  }

  // ---- Numbers, as the tables of the page show them -------------------------------------------

  /** A number with that many decimals; a tie goes to the even digit, as in the page's tables. */
  function fixed(value, digits) {
    const exact = value.toFixed(digits + 60);
    const rest = exact.slice(exact.length - 60);
    if (!/^50*$/.test(rest)) return value.toFixed(digits);
    const scaled = BigInt(exact.slice(0, exact.length - 60).replace(".", ""));
    const even = scaled % 2n === 0n ? scaled : scaled + (value < 0 ? -1n : 1n);
    const sign = value < 0 ? "-" : "";
    const text = String(even < 0n ? -even : even).padStart(digits + 1, "0");
    return sign + (digits === 0 ? text : `${text.slice(0, -digits)}.${text.slice(-digits)}`);
  }

  function seconds(value) {
    const size = Math.abs(value);
    if (size < 1) return `${fixed(value, 3)} s`;
    if (size < 10) return `${fixed(value, 2)} s`;
    if (size < 120) return `${fixed(value, 1)} s`;
    if (size < 7200) return `${fixed(value / 60, 1)} min`;
    return `${fixed(value / 3600, 1)} h`;
  }

  const GROUPS = /\B(?=(\d{3})+$)/g;
  const STEPS = {
    seconds: [[10800, 3600, "h"], [300, 60, "min"], [0, 1, "s"]],
    bytes: [[1e9, 1e9, "GB"], [1e6, 1e6, "MB"], [1e3, 1e3, "kB"], [0, 1, "B"]],
    memory: [[2 ** 30, 2 ** 30, "GiB"], [2 ** 20, 2 ** 20, "MiB"], [2 ** 10, 2 ** 10, "KiB"], [0, 1, "B"]],
  };

  /** A value with its unit. */
  function show(value, unit) {
    switch (unit) {
      case "seconds":
        return seconds(value);
      case "bytes":
      case "memory": {
        const [least, size, name] = STEPS[unit].find(([from]) => value >= from);
        const digits = least === 0 ? 0 : unit === "bytes" ? 2 : 1;
        return `${fixed(value / size, digits)} ${name}`;
      }
      case "count":
        return fixed(value, 0).replace(GROUPS, ",");
      default:
        return fixed(value, 2);
    }
  }

  /** The unit in which an axis up to a value has round labels: its size and name. */
  function scale(most, unit) {
    const [, size, name] = (STEPS[unit] ?? [[0, 1, ""]]).find(([from]) => most >= from);
    return { size, name };
  }

  function label(value, name) {
    const text = String(Number(value.toPrecision(6)));
    return name ? `${text} ${name}` : text.replace(GROUPS, ",");
  }

  // ---- Looks ------------------------------------------------------------------------------------

  const SYMBOLS = ["circle", "rect", "triangle", "diamond", "roundRect", "path://M0 0L10 0L5 10Z"];
  const DASHES = ["solid", [6, 3], [2, 3], [8, 3, 2, 3], [10, 4], [4, 2]];

  /** The colour that a property of the page has now. */
  const probe = element("span");
  probe.hidden = true;
  document.body.append(probe);
  function colour(property) {
    probe.style.color = `var(--${property})`;
    return getComputedStyle(probe).color;
  }

  function axisLook() {
    const muted = colour("muted");
    return {
      axisLine: { show: true, lineStyle: { color: colour("edge") } },
      axisTick: { show: false },
      axisLabel: { color: muted, fontSize: 12, hideOverlap: true },
      nameTextStyle: { color: muted, fontSize: 12 },
      splitLine: { lineStyle: { color: colour("grid") } },
    };
  }

  function tooltip(trigger, formatter) {
    return {
      trigger,
      confine: true,
      transitionDuration: 0,
      backgroundColor: "transparent",
      borderWidth: 0,
      padding: 0,
      extraCssText: "box-shadow: none;",
      axisPointer: { type: "line", lineStyle: { color: colour("muted"), type: "dashed" } },
      formatter,
    };
  }

  const base = () => ({
    animation: false,
    textStyle: { fontFamily: getComputedStyle(document.body).fontFamily },
  });

  // ---- Charts of lines --------------------------------------------------------------------------

  const off = new Set();

  function lines(panel, view) {
    const own = view.series.filter((one) => !off.has(data.arms[one.arm].column));
    const limits = view.limits.filter((one) => !off.has(one.column));
    let most = 0;
    for (const one of own) for (const [, value] of one.points) most = Math.max(most, value ?? 0);
    // The sentence below the chart names the others.
    const near = limits.filter((one) => one.value <= 3 * most);
    const top = near.reduce((level, one) => Math.max(level, one.value), 0);
    const y = scale(Math.max(most, top), view.unit);
    const isTime = panel.along === "time";
    const xs = view.series.flatMap((one) => one.points.map(([x]) => x));
    const last = xs.reduce((one, other) => Math.max(one, other), 0);
    const x = isTime ? scale(last, "seconds") : { size: 1, name: "" };

    const tip = (points) => {
      const shown = points.filter((one) => one.value?.[2] != null);
      if (shown.length === 0) return "";
      const at = shown[0].value[3];
      const list = element("dl");
      for (const one of shown) {
        const mark = element("i");
        mark.style.background = one.color;
        const name = element("dt", "", mark, one.seriesName);
        const where = isTime && shown.length > 1 ? ` at ${seconds(one.value[3])}` : "";
        list.append(element("div", "", name, element("dd", "", show(one.value[2], view.unit) + where)));
      }
      const title = isTime ? `at ${seconds(at)}` : `workflow ${show(at, "count")}`;
      return element("div", "tip", element("strong", "", title), list);
    };

    const series = own.map((one) => {
      const arm = data.arms[one.arm];
      const look = arm.column % SYMBOLS.length;
      const isFirst = arm.repeat === 1;
      return {
        type: "line",
        name: one.name,
        color: colour(`series-${look}`),
        symbol: SYMBOLS[look],
        symbolSize: one.points.length > 30 ? 5 : 7,
        showSymbol: !one.joined || one.points.length <= (isTime ? 24 : 60),
        lineStyle: { width: one.joined ? (isFirst ? 2 : 1.25) : 0, type: DASHES[look] },
        opacity: isFirst ? 1 : 0.6,
        emphasis: { disabled: true },
        data: one.points.map(([at, value]) => [at / x.size, value == null ? null : value / y.size, value, at]),
      };
    });
    const levels = [...new Set(near.map((one) => one.value))];
    if (levels.length > 0) {
      series.push({
        type: "line",
        name: "limit",
        data: [],
        markLine: {
          silent: true,
          symbol: "none",
          animation: false,
          lineStyle: { color: colour("limit"), width: 1.5, type: [3, 3] },
          label: {
            position: "insideStartTop",
            color: colour("limit"),
            fontSize: 12,
            formatter: (mark) => `limit ${show(levels[mark.dataIndex], view.unit)}`,
          },
          data: levels.map((level) => ({ yAxis: level / y.size })),
        },
      });
    }
    return {
      ...base(),
      grid: { left: 6, right: 14, top: 18, bottom: 6, outerBoundsMode: "same", outerBoundsContain: "all" },
      tooltip: tooltip("axis", tip),
      xAxis: {
        ...axisLook(),
        type: "value",
        name: isTime ? "time since the arm's workers were ready" : "workflow",
        nameLocation: "middle",
        nameGap: 26,
        min: isTime ? 0 : 1,
        max: isTime ? undefined : Math.max(last, 2),
        minInterval: isTime ? 0 : 1,
        axisLabel: { ...axisLook().axisLabel, formatter: (value) => label(value, x.name) },
        splitLine: { show: false },
      },
      yAxis: {
        ...axisLook(),
        type: "value",
        min: 0,
        max: top > most ? (1.08 * top) / y.size : undefined,
        minInterval: view.unit === "count" ? 1 : 0,
        axisLine: { show: false },
        axisLabel: {
          ...axisLook().axisLabel,
          showMaxLabel: top > most ? false : undefined,
          formatter: (value) => label(value, y.name),
        },
      },
      series,
    };
  }

  // ---- Timelines --------------------------------------------------------------------------------

  const ROW = { workers: 30, workflows: 15 };

  /** A span is known by its height and outline as well as by its colour. */
  function drawSpan(kind, box, tint) {
    const { x, width } = box;
    const middle = box.y + box.height / 2;
    const bar = (share, style) => {
      const height = box.height * share;
      return { type: "rect", shape: { x, y: middle - height / 2, width, height }, style };
    };
    switch (kind) {
      case "queue":
        return bar(0.22, { fill: tint });
      case "wait":
        return {
          type: "line",
          shape: { x1: x, y1: middle, x2: x + width, y2: middle },
          style: { stroke: tint, lineWidth: 2, lineDash: [3, 2] },
        };
      case "restart":
        return bar(0.6, { fill: "none", stroke: tint, lineWidth: 1.5 });
      case "lost": {
        const parts = [bar(0.8, { fill: tint })];
        const arm = box.height * 0.22;
        if (width > 3 * arm) {
          const cross = (rise) => ({
            type: "line",
            shape: { x1: x + width / 2 - arm, y1: middle - rise, x2: x + width / 2 + arm, y2: middle + rise },
            style: { stroke: colour("card"), lineWidth: 2 },
          });
          parts.push(cross(arm), cross(-arm));
        }
        return { type: "group", children: parts };
      }
      default:
        return bar(0.8, { fill: tint });
    }
  }

  function timeline(one, view) {
    const which = view === 0 ? "workers" : "workflows";
    const lanes = one[which];
    const x = scale(one.axis, "seconds");
    const kinds = [...new Set(lanes.flatMap((lane) => lane.spans.map((span) => span.kind)))];
    const tints = Object.fromEntries(kinds.map((kind) => [kind, colour(`kind-${kind}`)]));
    const spans = lanes.flatMap((lane, at) =>
      // What went wrong is drawn last, so that nothing covers it.
      [...lane.spans]
        .sort((first, second) => (first.kind === "lost") - (second.kind === "lost"))
        .map((span) => ({ value: [at, span.from / x.size, span.to / x.size], span })),
    );
    const tip = ({ data: { span } }) =>
      element(
        "div",
        "tip",
        element("strong", "", span.text),
        element("p", "", `${seconds(span.from)} to ${seconds(span.to)}: ${seconds(span.to - span.from)}`),
      );
    return {
      ...base(),
      grid: { left: 6, right: 14, top: 8, bottom: 6, outerBoundsMode: "same", outerBoundsContain: "all" },
      tooltip: tooltip("item", tip),
      xAxis: {
        ...axisLook(),
        type: "value",
        name: "time since the arm's workers were ready",
        nameLocation: "middle",
        nameGap: 26,
        min: 0,
        max: one.axis / x.size,
        axisLabel: {
          ...axisLook().axisLabel,
          showMaxLabel: false,
          formatter: (value) => label(value, x.name),
        },
      },
      yAxis: {
        ...axisLook(),
        type: "category",
        inverse: true,
        data: lanes.map((lane) => lane.name),
        name: view === 0 ? "" : "workflow",
        nameLocation: "start",
        nameGap: 4,
        splitLine: { show: false },
        axisLabel: {
          ...axisLook().axisLabel,
          interval: view === 0 ? 0 : "auto",
        },
      },
      series: [
        {
          type: "custom",
          clip: true,
          emphasis: { disabled: true },
          encode: { x: [1, 2], y: 0 },
          data: spans,
          renderItem: (parameters, api) => {
            const { span } = spans[parameters.dataIndex];
            const [from, middle] = api.coord([api.value(1), api.value(0)]);
            const [to] = api.coord([api.value(2), api.value(0)]);
            const height = api.size([0, 1])[1] * 0.86;
            // A pixel and a half is the least that is seen.
            const width = Math.max(to - from, 1.5);
            return drawSpan(span.kind, { x: from, y: middle - height / 2, width, height }, tints[span.kind]);
          },
        },
      ],
    };
  }

  // ---- Putting charts into the page --------------------------------------------------------------

  const charts = new Map();
  const views = { files: 0, timeline: 0 };

  function option(place) {
    if (place.dataset.panel) {
      const [list, at] = place.dataset.panel.split(".");
      const panel = data[list][at];
      return lines(panel, panel.views[list === "tables" ? views.files : 0]);
    }
    return timeline(data.timelines[place.dataset.timeline], Number(place.dataset.view));
  }

  function draw(place) {
    charts.get(place)?.setOption(option(place), { notMerge: true });
  }

  function fit(place) {
    if (place.clientWidth === 0) return;
    const chart = charts.get(place);
    if (chart) {
      chart.resize();
    } else {
      charts.set(place, echarts.init(place, null, { renderer: "svg" }));
      draw(place);
    }
  }

  const places = all(".chart");
  const redraw = () => places.forEach(draw);
  for (const place of places.filter((one) => one.dataset.timeline)) {
    const row = place.dataset.view === "0" ? ROW.workers : ROW.workflows;
    place.style.height = `${Number(place.dataset.lanes) * row + 58}px`;
  }
  // It also tells when a place that was hidden is shown.
  const observer = new ResizeObserver((entries) => entries.forEach((entry) => fit(entry.target)));

  // ---- Switches -----------------------------------------------------------------------------------

  function showView(name) {
    const view = String(views[name]);
    const section = document.getElementById(name);
    for (const one of all("[data-view]", section)) one.hidden = one.dataset.view !== view;
    if (name === "files") {
      const described = all(".chart", section);
      for (const one of described) {
        const panel = one.closest(".panel");
        one.setAttribute("aria-describedby", `${panel.id}-${view}`);
        draw(one);
      }
    }
  }

  for (const group of all("[data-switch]")) {
    const name = group.dataset.switch;
    group.addEventListener("change", (event) => {
      views[name] = Number(event.target.value);
      showView(name);
    });
    // A page that is loaded again keeps what was chosen.
    views[name] = Number(group.querySelector("input:checked")?.value ?? 0);
    showView(name);
  }

  for (const entry of all(".legend li")) {
    const column = Number(entry.dataset.column);
    const button = element("button", "", ...entry.childNodes);
    button.type = "button";
    button.setAttribute("aria-pressed", "true");
    button.addEventListener("click", () => {
      const show = off.delete(column);
      if (!show) off.add(column);
      for (const other of all(`.legend li[data-column="${column}"] button`)) {
        other.setAttribute("aria-pressed", String(show));
      }
      for (const figure of all(`.timeline[data-column="${column}"]`)) figure.hidden = !show;
      redraw();
    });
    entry.append(button);
  }

  // ---- Tables that sort -----------------------------------------------------------------------------

  const collator = new Intl.Collator("en", { numeric: true });

  /** What a row is sorted by in a column: what is no number comes after all numbers. */
  function compare(at, down) {
    const turn = down ? -1 : 1;
    return (one, other) => {
      const [first, second] = [one.cells[at], other.cells[at]];
      const [has, hasOther] = [first.dataset.value, second.dataset.value].map((value) => value !== undefined);
      if (has !== hasOther) return has ? -1 : 1;
      if (!has) return turn * collator.compare(first.textContent, second.textContent);
      const group = Number(one.dataset.group ?? 0) - Number(other.dataset.group ?? 0);
      return group || turn * (Number(first.dataset.value) - Number(second.dataset.value));
    };
  }

  for (const table of all("table[data-sortable]")) {
    const body = table.tBodies[0];
    const order = [...body.rows];
    const heads = [...table.tHead.rows[0].cells];
    for (const [at, head] of heads.entries()) {
      const button = element("button", "sort", ...head.childNodes);
      button.type = "button";
      button.addEventListener("click", () => {
        const next = { ascending: "descending", descending: null }[head.getAttribute("aria-sort")];
        for (const other of heads) other.removeAttribute("aria-sort");
        const sort = next === undefined ? "ascending" : next;
        if (sort) head.setAttribute("aria-sort", sort);
        table.classList.toggle("sorted", sort !== null);
        body.append(...(sort ? [...order].sort(compare(at, sort === "descending")) : order));
      });
      head.append(button);
    }
  }

  // ---- Scheme, printing ------------------------------------------------------------------------------

  const dark = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.scheme ?? (dark.matches ? "dark" : "light")) === "dark";
  const button = document.getElementById("scheme");
  function schemeChanged() {
    button.textContent = isDark() ? "Light scheme" : "Dark scheme";
    redraw();
  }
  button.hidden = false;
  button.addEventListener("click", () => {
    root.dataset.scheme = isDark() ? "light" : "dark";
    try {
      localStorage.setItem("bench-report-scheme", root.dataset.scheme);
    } catch {
      // It holds for this view of the page.
    }
    schemeChanged();
  });
  dark.addEventListener("change", schemeChanged);

  const print = (is) => {
    root.classList.toggle("printing", is);
    for (const [place, chart] of charts) {
      if (place.clientWidth > 0) chart.resize();
      draw(place);
    }
  };
  addEventListener("beforeprint", () => print(true));
  addEventListener("afterprint", () => print(false));

  schemeChanged();
  places.forEach((place) => {
    fit(place);
    observer.observe(place);
  });
  // For those who look at this page by a script.
  window.benchReport = { show, charts };
})();
