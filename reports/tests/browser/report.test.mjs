// What report.html does in a browser. `BENCH` is the command, `CHROMIUM` the browser, and `OUT` the folder
// in which pages and screenshots are left. None of these tests goes by how long something takes: on a busy
// machine they wait.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { chromium } from "playwright-core";
import { AWKWARD, makePages } from "./pages.mjs";

const { BENCH, CHROMIUM, OUT } = process.env;
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const NAMES = ["plain", "hardship", "several", "invalid", "awkward", "partial"];
/** Milliseconds after which a browser is taken to hang. */
const PATIENCE = 600_000;
const WIDE = { width: 1280, height: 900 };
const NARROW = { width: 390, height: 844 };

let browser;
let pages;
before(async () => {
  pages = makePages(BENCH, OUT);
  browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"], timeout: PATIENCE });
});
after(() => browser?.close());

/** Opens a page, does something, and closes it; nothing may be fetched or logged meanwhile. */
async function open(name, look, { viewport = WIDE, colorScheme = "light", ...options } = {}) {
  const context = await browser.newContext({ viewport, colorScheme, ...options });
  context.setDefaultTimeout(PATIENCE);
  const page = await context.newPage();
  const asked = [];
  const said = [];
  page.on("request", (request) => asked.push(request.url()));
  page.on("console", (message) => said.push(`${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => said.push(`error: ${error.stack}`));
  await page.goto(pages[name]);
  await look(page);
  const [own, ...others] = asked;
  assert.equal(own, pages[name]);
  assert.deepEqual(others.filter((url) => url !== own), []);
  assert.deepEqual(said, []);
  await context.close();
}

/** What a table's column shows, from top to bottom. */
const column = (page, at) =>
  page.$$eval("#evidence tbody tr", (rows, at) => rows.map((row) => row.cells[at].textContent), at);

describe("report.html", { concurrency: false }, () => {
  test("every page opens without a request, a warning or an error, and draws what its data holds", async () => {
    for (const name of NAMES) {
      await open(name, async (page) => {
        const drawn = await page.evaluate(async () => {
          for (const one of document.querySelectorAll("details.drawing")) one.open = true;
          // What was closed is drawn after it has a place.
          await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
          const data = JSON.parse(document.getElementById("charts").textContent);
          const shown = [...document.querySelectorAll(".chart")].filter((one) => one.clientWidth > 0);
          return {
            expected: ["durations", "tables", "memory"]
              .flatMap((list) => data[list])
              .filter((panel) => panel.views.some((view) => view.series.length > 0)).length,
            timelines: data.timelines.length,
            drawn: shown.filter((one) => one.dataset.panel).length,
            timelinesDrawn: shown.filter((one) => one.dataset.timeline).length,
            empty: shown
              .filter((one) => one.querySelectorAll("svg path").length < 3)
              .map((one) => one.closest(".panel").id),
          };
        });
        assert.equal(drawn.drawn, drawn.expected, name);
        assert.equal(drawn.timelinesDrawn, drawn.timelines, name);
        assert.deepEqual(drawn.empty, [], name);
        assert.ok(drawn.expected > 0, name);
      });
    }
  });

  test("the policy of the page lets nothing be fetched and no other script run", async () => {
    let asked = 0;
    const server = createServer((_, answer) => {
      asked += 1;
      answer.setHeader("Access-Control-Allow-Origin", "*");
      answer.end("answer");
    });
    await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
    const address = `http://127.0.0.1:${server.address().port}`;
    const tried = async (options) => {
      const context = await browser.newContext(options);
      context.setDefaultTimeout(PATIENCE);
      const page = await context.newPage();
      await page.goto(pages.plain);
      const found = await page.evaluate(async (address) => {
        const script = document.createElement("script");
        script.textContent = "window.ran = true";
        document.body.append(script);
        const image = new Image();
        const seen = new Promise((done) => (image.onload = image.onerror = done));
        image.src = `${address}/image.png`;
        await seen;
        const fetched = await fetch(address).then(() => true, () => false);
        return { ran: window.ran === true, fetched };
      }, address);
      await context.close();
      return found;
    };
    assert.deepEqual(await tried({}), { ran: false, fetched: false });
    assert.equal(asked, 0);
    // Without the policy they all succeed: it is what forbids them.
    assert.deepEqual(await tried({ bypassCSP: true }), { ran: true, fetched: true });
    assert.equal(asked, 2);
    server.close();
  });

  test("a name that is markup is shown as a name and does nothing", async () => {
    await open("awkward", async (page) => {
      const heads = await page.$$eval("#evidence thead th", (heads) => heads.map((head) => head.innerText.trim()));
      assert.ok(heads.includes(AWKWARD), heads.join(" | "));
      assert.equal(await page.$$eval("main b", (found) => found.length), 0);
      await page.hover("#service .chart");
      const tip = await page.locator("#service .tip").innerText();
      assert.ok(tip.includes(AWKWARD), tip);
    });
  });

  test("an invalid run says so in red before any figure", async () => {
    await open("invalid", async (page) => {
      const said = await page.evaluate(() => {
        const banner = document.querySelector(".invalid");
        const figures = [...document.querySelectorAll("td, dd, .chart")];
        const [red, green, blue] = getComputedStyle(banner).backgroundColor.match(/\d+/g).map(Number);
        return {
          text: banner.innerText,
          isFirst: figures.every((one) => banner.compareDocumentPosition(one) & Node.DOCUMENT_POSITION_FOLLOWING),
          isRed: red > 2 * Math.max(green, blue),
          tiles: document.querySelectorAll(".tiles").length,
        };
      });
      assert.match(said.text, /^Invalid\s+The rows do not add up/);
      assert.deepEqual([said.isFirst, said.isRed, said.tiles], [true, true, 0]);
    });
  });

  test("a table sorts by click and by keyboard, within each unit, and goes back to its order", async () => {
    await open("plain", async (page) => {
      const order = await column(page, 0);
      const head = page.locator("#evidence thead th").nth(1);
      const values = () =>
        page.$$eval("#evidence tbody tr", (rows) =>
          rows.map((row) => [row.dataset.group, row.cells[1].dataset.value ?? null]),
        );
      const isSorted = (rows, turn) =>
        rows.every(([group, value], at) => {
          if (at === 0) return true;
          const [groupBefore, before] = rows[at - 1];
          if (value === null || before === null) return before !== null || value === null;
          return group === groupBefore ? turn * (value - before) >= 0 : Number(group) > Number(groupBefore);
        });
      assert.ok(!isSorted(await values(), 1));
      await head.locator("button").click();
      assert.equal(await head.getAttribute("aria-sort"), "ascending");
      assert.ok(isSorted(await values(), 1));
      await head.locator("button").focus();
      await page.keyboard.press("Enter");
      assert.equal(await head.getAttribute("aria-sort"), "descending");
      assert.ok(isSorted(await values(), -1));
      await page.keyboard.press("Space");
      assert.equal(await head.getAttribute("aria-sort"), null);
      assert.deepEqual(await column(page, 0), order);
      const names = page.locator("#evidence thead th").first();
      await names.locator("button").click();
      const collator = new Intl.Collator("en", { numeric: true });
      assert.deepEqual(await column(page, 0), [...order].sort(collator.compare));
    });
  });

  test("the scheme follows the system until it is chosen, and the choice is remembered", async () => {
    for (const [colorScheme, other] of [["light", "Dark scheme"], ["dark", "Light scheme"]]) {
      await open(
        "plain",
        async (page) => {
          const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
          const line = () => page.locator("#service svg path[stroke]").evaluateAll((paths) => paths.map((one) => one.getAttribute("stroke")).join());
          const first = [await ground(), await line()];
          const button = page.getByRole("button", { name: other });
          await button.click();
          const second = [await ground(), await line()];
          assert.notEqual(first[0], second[0]);
          assert.notEqual(first[1], second[1]);
          await page.reload();
          assert.deepEqual([await ground(), await line()], second);
        },
        { colorScheme },
      );
    }
  });

  test("hovering shows values with their units", async () => {
    await open("hardship", async (page) => {
      for (const [panel, unit] of [["service", / (s|min)/], ["table-reports", /\d/], ["memory", /MiB/]]) {
        await page.hover(`#${panel} .chart`);
        assert.match(await page.locator(`#${panel} .tip dd`).first().innerText(), unit);
      }
    });
  });

  test("the script writes numbers as the tables of the page do", async () => {
    for (const name of ["plain", "hardship"]) {
      await open(name, async (page) => {
        const cells = await page.$$eval("td[data-unit]", (cells) =>
          cells.map((one) => [
            window.benchReport.show(Number(one.dataset.value), one.dataset.unit),
            one.textContent,
          ]),
        );
        assert.ok(cells.length > 100);
        for (const [written, shown] of cells) assert.equal(written, shown);
      });
    }
    await open("plain", async (page) => {
      const show = (...pair) => page.evaluate(([value, unit]) => window.benchReport.show(value, unit), pair);
      // Ties go to the even digit.
      assert.equal(await show(96.25 * 2 ** 20, "memory"), "96.2 MiB");
      assert.equal(await show(96.75 * 2 ** 20, "memory"), "96.8 MiB");
      assert.equal(await show(0.0625, "seconds"), "0.062 s");
      assert.equal(await show(100000, "count"), "100,000");
    });
  });

  test("a line can be hidden and shown again, in all charts at once", async () => {
    await open("plain", async (page) => {
      const marks = (panel) => page.locator(`#${panel} svg path`).count();
      const before = [await marks("service"), await marks("tables")];
      const button = page.locator("#durations .legend button").first();
      await button.focus();
      await page.keyboard.press("Space");
      assert.equal(await button.getAttribute("aria-pressed"), "false");
      const hidden = [await marks("service"), await marks("tables")];
      assert.ok(hidden[0] < before[0] && hidden[1] < before[1], `${before} ${hidden}`);
      assert.equal(await page.locator("#files .legend button").first().getAttribute("aria-pressed"), "false");
      await button.click();
      assert.deepEqual([await marks("service"), await marks("tables")], before);
    });
  });

  test("the switches choose by keyboard what charts show", async () => {
    await open("hardship", async (page) => {
      await page.locator("#files input").first().focus();
      await page.keyboard.press("ArrowRight");
      await page.keyboard.press("ArrowRight");
      assert.match(await page.locator("#table-reports .said:visible").innerText(), /^Bytes on disk: .* (k|M)?B/);
      await page.locator("#timeline input").first().focus();
      await page.keyboard.press("ArrowRight");
      const shown = await page.locator("#timeline .chart:visible").evaluateAll((all) => all.map((one) => one.dataset.view));
      assert.ok(shown.length > 0 && shown.every((view) => view === "1"));
      assert.equal(await page.locator("#timeline .chart:visible svg").count(), shown.length);
    });
  });

  test("no page is wider than its window, on a phone and on a desk", async () => {
    for (const name of NAMES) {
      await open(name, async (page) => {
        await page.$$eval("details", (all) => all.forEach((one) => (one.open = true)));
        for (const viewport of [WIDE, NARROW]) {
          await page.setViewportSize(viewport);
          const [content, window] = await page.evaluate(async () => {
            await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
            return [document.documentElement.scrollWidth, document.documentElement.clientWidth];
          });
          assert.ok(content <= window, `${name}: ${content} in ${window}`);
        }
      });
    }
  });

  test("an independent checker finds no serious fault of accessibility, in both schemes", async () => {
    for (const name of NAMES) {
      await open(
        name,
        async (page) => {
          // Tables of charts are alike on all pages: those of one are looked at, closed on the others.
          if (name === "plain") await page.$$eval("details", (all) => all.forEach((one) => (one.open = true)));
          await page.evaluate(axe);
          for (const [colorScheme, viewport] of [["light", WIDE], ["dark", WIDE], ["dark", NARROW]]) {
            await page.emulateMedia({ colorScheme });
            await page.setViewportSize(viewport);
            const found = await page.evaluate(() => window.axe.run({ resultTypes: ["violations"] }));
            assert.ok(found.passes.length > 20);
            const serious = found.violations.filter((one) => ["serious", "critical"].includes(one.impact));
            const told = serious.flatMap((one) => one.nodes.map((node) => `${one.id}: ${node.html} ${node.failureSummary}`));
            assert.deepEqual(told, [], `${name}, ${colorScheme}, ${viewport.width}`);
          }
        },
        // The checker is a script of its own; the page's policy would not let it in.
        { bypassCSP: true },
      );
    }
  });

  test("the first key leads to a link past the header, and the focus is seen", async () => {
    await open("plain", async (page) => {
      await page.keyboard.press("Tab");
      const link = await page.evaluate(() => {
        const one = document.activeElement;
        const box = one.getBoundingClientRect();
        return { text: one.textContent, isSeen: box.left >= 0 && box.top >= 0, outline: getComputedStyle(one).outlineStyle };
      });
      assert.deepEqual(link, { text: "Skip to the report", isSeen: true, outline: "solid" });
      await page.keyboard.press("Enter");
      assert.equal(await page.evaluate(() => document.activeElement.id), "main");
    });
  });

  test("without scripts every figure and sentence is there, and nothing that needs one", async () => {
    await open(
      "hardship",
      async (page) => {
        assert.ok((await page.locator("#evidence tbody tr:visible").count()) > 20);
        assert.equal(await page.locator(".chart:visible, .switch:visible, #scheme:visible").count(), 0);
        assert.ok((await page.locator(".said:visible").count()) > 10);
        await page.locator("#service details summary").click();
        assert.ok((await page.locator("#service tbody tr:visible").count()) > 3);
      },
      { javaScriptEnabled: false },
    );
  });

  test("on paper the charts fit, in light colours", async () => {
    await open(
      "hardship",
      async (page) => {
        const measured = await page.evaluate(() => {
          dispatchEvent(new Event("beforeprint"));
          const widths = [...document.querySelectorAll(".chart svg")].map((one) => one.clientWidth);
          const ground = getComputedStyle(document.body).backgroundColor;
          dispatchEvent(new Event("afterprint"));
          const after = Math.max(...[...document.querySelectorAll(".chart svg")].map((one) => one.clientWidth));
          return { most: Math.max(...widths), ground, after };
        });
        assert.ok(measured.most <= 43 * 16, `${measured.most}`);
        assert.equal(measured.ground, "rgb(255, 255, 255)");
        assert.ok(measured.after > 43 * 16);
        await page.pdf({ path: join(OUT, "hardship.pdf"), format: "A4", printBackground: true });
      },
      { colorScheme: "dark" },
    );
  });

  test("pictures of every page are kept", async () => {
    for (const name of NAMES) {
      await open(name, async (page) => {
        for (const [size, viewport] of [["wide", WIDE], ["narrow", NARROW]]) {
          await page.setViewportSize(viewport);
          for (const colorScheme of ["light", "dark"]) {
            await page.emulateMedia({ colorScheme });
            await page.screenshot({ path: join(OUT, `${name}-${size}-${colorScheme}.png`), fullPage: true });
          }
        }
      });
    }
  });
});
