import { spawnSync } from "node:child_process"
import { existsSync } from "node:fs"
import { type Browser, chromium } from "playwright-core"

/** The headless shell is first, because it uses a third less CPU time for the same tests. */
const PLACES = [
  "/usr/bin/chromium-headless-shell",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
]

/** Not every distribution has the first package. */
const PACKAGES = ["chromium-headless-shell", "chromium"]

const HOW = `Tests of the page need Chromium, and there is none in ${PLACES.join(", ")}.
On Debian and Ubuntu \`apt-get install ${PACKAGES[0]}\` (or ${PACKAGES[1]}) brings it; PAWL_TEST_CHROMIUM names one in another place.`

/**
 * Returns the path of Chromium. Installs it if it is missing and the machine permits it; otherwise throws an error that
 * explains how to.
 */
export function findChromium(): string {
  const named = process.env.PAWL_TEST_CHROMIUM
  if (named && !existsSync(named)) throw new Error(`PAWL_TEST_CHROMIUM names ${named}, and there is nothing.`)
  const found = named || installed()
  if (found) return found
  if (process.platform !== "linux" || process.getuid?.() !== 0 || !existsSync("/usr/bin/apt-get")) throw new Error(HOW)
  process.stderr.write("installing Chromium for the tests of the page…\n")
  apt(["update", "-q"])
  PACKAGES.find((name) => apt(["install", "-qy", "--no-install-recommends", name]))
  const brought = installed()
  if (!brought) throw new Error(`apt-get did not bring one.\n${HOW}`)
  return brought
}

const installed = () => PLACES.find((path) => existsSync(path))

function apt(words: readonly string[]): boolean {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" }
  return spawnSync("apt-get", words, { stdio: ["ignore", "ignore", "inherit"], env }).status === 0
}

/** Disables optimizing compilers: pages of tests live for seconds, and optimizing takes a tenth of their time. */
const COMPILED_ONCE = "--js-flags=--no-opt --no-maglev"

/** Tiles as large as most of these pages, because without a graphics card each tile is drawn separately. */
const DRAWN_IN_ONE = ["--default-tile-width=1280", "--default-tile-height=800"]

/**
 * Opens a headless browser that sends no requests by itself and can be limited to this machine. With `isMeasured`, it
 * compiles and draws like an ordinary browser.
 */
export function openBrowser({ isMeasured = false }: { readonly isMeasured?: boolean } = {}): Promise<Browser> {
  const args = [
    ...(isMeasured ? [] : [COMPILED_ONCE, ...DRAWN_IN_ONE]),
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    // Runs a frame without an origin in a separate process, as Chrome does; the headless shell does not by default.
    "--site-per-process",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
  ]
  return chromium.launch({ executablePath: findChromium(), headless: true, args })
}
