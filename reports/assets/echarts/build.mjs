// Writes echarts.min.js: the parts of ECharts that entry.mjs names, as one script that defines
// `echarts`. The same versions (package-lock.json) give the same bytes.
import { build } from "esbuild";
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { createHash } from "node:crypto";

const out = new URL("echarts.min.js", import.meta.url).pathname;
// A browser reads a line break of two characters as one, and then the digest of the script is another.
const file = (path) =>
  readFileSync(new URL(`node_modules/${path}`, import.meta.url), "utf8").replaceAll("\r\n", "\n").trim();
const version = (name) =>
  JSON.parse(file(`${name}/package.json`)).version;

/** What must stay with every copy: whoever passes a report on passes the library on. */
function banner() {
  const parts = [
    `A part of Apache ECharts ${version("echarts")}, Apache License 2.0, http://www.apache.org/licenses/LICENSE-2.0`,
    file("echarts/NOTICE"),
    `zrender ${version("zrender")}`,
    file("zrender/LICENSE"),
    "d3.js, parts of which ECharts holds",
    file("echarts/licenses/LICENSE-d3"),
    `tslib ${version("tslib")}`,
    file("tslib/LICENSE.txt"),
  ];
  return parts.join("\n\n");
}

await build({
  entryPoints: [new URL("entry.mjs", import.meta.url).pathname],
  outfile: out,
  bundle: true,
  minify: true,
  format: "iife",
  globalName: "echarts",
  target: "es2020",
  charset: "ascii",
  // They are in the banner, once each.
  legalComments: "none",
  define: { "process.env.NODE_ENV": '"production"' },
  banner: { js: `/*\n${banner()}\n*/` },
});

for (const [from, to] of [
  ["echarts/LICENSE", "LICENSE"],
  ["echarts/NOTICE", "NOTICE"],
  ["echarts/licenses/LICENSE-d3", "LICENSE-d3"],
  ["zrender/LICENSE", "LICENSE-zrender"],
  ["tslib/LICENSE.txt", "LICENSE-tslib"],
]) {
  copyFileSync(new URL(`node_modules/${from}`, import.meta.url), new URL(to, import.meta.url));
}

const text = readFileSync(out, "utf8");
if (text.includes("</script")) throw new Error("the script would end the element that holds it");
if (/[\r\0]/.test(text)) throw new Error("a browser would read another script than this");
const digest = createHash("sha256").update(text).digest("hex");
writeFileSync(new URL("echarts.min.js.sha256", import.meta.url), `${digest}  echarts.min.js\n`);
console.log(`echarts.min.js: ${Buffer.byteLength(text)} bytes, sha256 ${digest}`);
