import { spawnSync } from "node:child_process"
import { existsSync } from "node:fs"
import { type Browser, chromium } from "playwright-core"

const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"]

const HOW = `Tests of the page need Chromium, and there is none in ${PLACES.join(", ")}.
On Debian and Ubuntu \`apt-get install chromium\` brings it; PAWL_TEST_CHROMIUM names one in another place.`

/** Where Chromium is. Where it is missing and this machine lets us, it is installed; otherwise this says how to. */
export function findChromium(): string {
  const named = process.env.PAWL_TEST_CHROMIUM
  if (named && !existsSync(named)) throw new Error(`PAWL_TEST_CHROMIUM names ${named}, and there is nothing.`)
  const found = named || PLACES.find((path) => existsSync(path))
  if (found) return found
  if (process.platform !== "linux" || process.getuid?.() !== 0 || !existsSync("/usr/bin/apt-get")) throw new Error(HOW)
  process.stderr.write("installing Chromium for the tests of the page…\n")
  const options = { stdio: ["ignore", "ignore", "inherit"], env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" } }
  for (const words of [
    ["update", "-q"],
    ["install", "-qy", "--no-install-recommends", "chromium"],
  ]) {
    const { status } = spawnSync("apt-get", words, options as object)
    if (status !== 0) throw new Error(`apt-get ${words.join(" ")} failed.\n${HOW}`)
  }
  return PLACES[0] as string
}

/** A browser without a window, which asks nobody for anything by itself, and finds nobody but this machine when told to. */
export function openBrowser(): Promise<Browser> {
  const args = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
  ]
  return chromium.launch({ executablePath: findChromium(), headless: true, args })
}
