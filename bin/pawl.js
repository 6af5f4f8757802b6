#!/usr/bin/env node
// Starts Pawl: what was built of its sources, in a checkout only where these have not changed since; then from the sources.
// Written in old JavaScript on purpose: a Node that is too old must get far enough to say so, or to hand over to the
// Node 24 that `npm install` brought along.
import { existsSync } from "node:fs"
import module from "node:module"
import { dirname, join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"

const NEEDED = 24
const launcher = fileURLToPath(import.meta.url)
const sources = new URL("../apps/cli/pawl.ts", import.meta.url)
const isCheckout = existsSync(sources)
/** `node:child_process`, which only a Node that is too old needs: to load it is a tenth of the shortest command. */
let processes

if (majorOf(process.versions.node) >= NEEDED) {
  module.enableCompileCache()
  await import(isCheckout ? await programOfCheckout() : "../dist/pawl.js")
} else {
  processes = await import("node:child_process")
  const node = findNode()
  if (node) {
    runWith(node)
  } else {
    console.error(
      `Pawl needs Node ${NEEDED} or newer; this is Node ${process.versions.node} (${process.execPath}).\n` +
        `Either ${isCheckout ? bringNode() : commandWithNode()},\n` +
        `or install it from https://nodejs.org (with nvm: \`nvm install ${NEEDED}\`), and start Pawl again.`,
    )
    process.exit(1)
  }
}

async function programOfCheckout() {
  const { builtProgram } = await import("../scripts/built.js")
  const built = builtProgram(dirname(dirname(launcher)))
  if (built !== undefined) return pathToFileURL(built).href
  // The packages of this repository are their sources, too.
  module.registerHooks({
    resolve: (specifier, context, next) =>
      next(specifier, { ...context, conditions: [...context.conditions, "pawl-source"] }),
  })
  return sources.href
}

function bringNode() {
  return `run \`npm install\` in ${dirname(dirname(launcher))}, which brings Node ${NEEDED} on Linux and Windows`
}

/** What was typed, with a newer Node for this one command: npm brings it, and installs nothing for good. */
function commandWithNode() {
  const words = process.argv
    .slice(2)
    .map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`))
  return `type \`${["npx -p node@24 -p pawl pawl", ...words].join(" ")}\``
}

function majorOf(version) {
  return Number(version.split(".")[0])
}

/** A new enough Node in a node_modules folder around this file. */
function findNode() {
  const platform = process.platform === "win32" ? "win" : process.platform
  const name = process.platform === "win32" ? "node.exe" : "node"
  for (let folder = dirname(launcher); dirname(folder) !== folder; folder = dirname(folder)) {
    const modules = join(folder, "node_modules")
    for (const node of [join(modules, ".bin", name), join(modules, `node-${platform}-${process.arch}`, "bin", name)]) {
      if (existsSync(node) && majorOf(versionOf(node)) >= NEEDED) return node
    }
  }
  return undefined
}

function versionOf(node) {
  const result = processes.spawnSync(node, ["-p", "process.versions.node"], { encoding: "utf8" })
  return result.status === 0 ? result.stdout : "0"
}

/** Becomes that Node, as far as one process can stand in for another: same streams, same signals, same end. */
function runWith(node) {
  const child = processes.spawn(node, [...process.execArgv, launcher, ...process.argv.slice(2)], { stdio: "inherit" })
  // A terminal sends Ctrl-C and its hang-up to both of us already; a second one would read as "stop at once".
  const terminal = process.stdin.isTTY || process.stdout.isTTY || process.stderr.isTTY
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) {
    process.on(signal, () => {
      if (signal === "SIGTERM" || !terminal) child.kill(signal)
    })
  }
  child.on("error", (error) => {
    console.error(`Pawl could not start ${node}: ${error.message}`)
    process.exit(1)
  })
  child.on("exit", (code, signal) => {
    if (signal === null) process.exit(code ?? 1)
    process.removeAllListeners(signal)
    process.kill(process.pid, signal)
  })
}
