// The pages that are looked at, made by `bench report` from run directories: stored ones, and ones that
// are made of them here.
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const stored = new URL("../data/", import.meta.url).pathname;

/** A name that is markup in every place where it could be taken for markup. */
export const AWKWARD = `</script><b onmouseover=alert(1)>&"tuned"'`;

/** Copies a stored run and changes the text of its files. */
function changed(to, change) {
  cpSync(join(stored, "run-format-1"), to, { recursive: true });
  for (const name of readdirSync(to)) {
    const path = join(to, name);
    writeFileSync(path, change(readFileSync(path, "utf8"), name));
  }
  return to;
}

function awkward(text, name) {
  if (name.endsWith(".csv")) return text.replaceAll(/^tuned,/gm, `"${AWKWARD.replaceAll('"', '""')}",`);
  return text.replaceAll('"tuned"', JSON.stringify(AWKWARD));
}

/** Only what somebody would write down: a status and durations of a few workflows. */
function partial(text, name) {
  if (name === "run.json") return text.replace('"status": "completed"', '"status": "imported"');
  if (name === "verification.json") return "{}";
  if (name !== "workflows.csv") return `${text.split("\n")[0]}\n`;
  const rows = ["baseline,1,1,completed,640", "baseline,1,6,completed,1460", "tuned,1,1,completed,365"];
  return ["variant,repeat,workflow,status,duration_s", ...rows, ""].join("\n");
}

/** Writes the pages into a folder; gives the address of each by its name. */
export function makePages(bench, folder) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(join(folder, "runs"), { recursive: true });
  const run = (name, change) => changed(join(folder, "runs", name), change);
  const runs = {
    plain: [join(stored, "run-format-1")],
    hardship: [join(stored, "hardship")],
    several: [join(stored, "run-format-1"), join(stored, "hardship")],
    invalid: [run("invalid", (text) => text.replace('"status": "completed"', '"status": "invalid"'))],
    awkward: [run("awkward", awkward)],
    partial: [run("partial", partial)],
  };
  const pages = {};
  for (const [name, folders] of Object.entries(runs)) {
    const page = join(folder, `${name}.html`);
    execFileSync(bench, ["report", ...folders, "--format", "html", "--out", page], { stdio: "inherit" });
    pages[name] = pathToFileURL(page).href;
  }
  return pages;
}
