// Sets the scheme that the reader chose before, ahead of the first paint, and says that scripts run.
(() => {
  const root = document.documentElement;
  root.classList.add("scripted-page");
  try {
    const kept = localStorage.getItem("bench-report-scheme");
    if (kept === "light" || kept === "dark") root.dataset.scheme = kept;
  } catch {
    // A browser that keeps nothing for a file follows the system's scheme.
  }
})();
