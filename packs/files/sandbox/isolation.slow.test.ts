import { spawnSync } from "node:child_process"
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs"
import { createServer as createHttpServer } from "node:http"
import { type AddressInfo, createServer, type Server } from "node:net"
import { join } from "node:path"
import { beforeEach, expect, test } from "vitest"
import { isReal, NO_BUBBLEWRAP, open, PATH, place, scratch } from "../../../test/support/files/commands.ts"
import { boundProcesses } from "./process-bound.ts"
import { findSandbox } from "./sandbox.ts"
import { FILTERED, REFUSED, REPORTED_MISSING, type Processor } from "./system-calls.ts"

beforeEach(({ skip }) => skip(!isReal, NO_BUBBLEWRAP))

const hasPerl = spawnSync("perl", ["-e", "1"]).status === 0
const NO_PERL = "perl is missing, which makes system calls by their numbers"

const listening = (server: Server, at: string | number) =>
  new Promise<void>((resolve, reject) => server.once("error", reject).listen(at as number, "127.0.0.1", resolve))

test.for([false, true])("no Unix socket can be reached, with the network (%s) neither", async (network, { skip }) => {
  skip(!hasPerl, NO_PERL)
  const { run, root } = open(findSandbox(place()))
  // In the work folder, where every command sees it: whatever is mounted, it is no way out.
  const [path, abstract] = [join(root, "daemon.sock"), `\0pawl-${process.pid}-${network}`]
  const daemons = [path, abstract].map((at) => ({ at, server: createServer((socket) => socket.end("reached\n")) }))
  for (const { at, server } of daemons) await new Promise<void>((resolve) => server.listen(at, resolve))
  try {
    const connect = `use Socket; socket(my $s, AF_UNIX, SOCK_STREAM, 0) or die "shut: $!\\n"; connect($s, pack_sockaddr_un($ARGV[0])) or die "connect: $!\\n"; print <$s>`
    const tries = [
      `perl -e '${connect}' ${path}`,
      `perl -e '${connect.replace("$ARGV[0]", '"\\0".$ARGV[0]')}' ${abstract.slice(1)}`,
    ]
    const { text } = await run({ command: tries.join("; "), network })
    expect(text).not.toContain("reached")
    expect(text.match(/shut: /g)).toHaveLength(2)
  } finally {
    for (const { server } of daemons) server.close()
  }
})

test("a server is reachable only with the network", async () => {
  await using server = createHttpServer((_request, response) => response.end("reached"))
  await listening(server, 0)
  const { port } = server.address() as AddressInfo
  const { run } = open(findSandbox(place()))
  const ask = `'${process.execPath}' -e 'fetch("http://127.0.0.1:${port}").then((a) => a.text()).then(console.log, () => console.log("away"))'`
  expect((await run({ command: ask, network: true })).text).toContain("reached")
  expect((await run({ command: ask })).text).toContain("away")
})

test("system calls that leave the sandbox are refused by the kernel", async ({ skip }) => {
  skip(!hasPerl, NO_PERL)
  const { run } = open(findSandbox(place()))
  const processor = process.arch as Processor
  // A call that is let through answers otherwise: with a bad descriptor, or a bad address.
  const tried = { ...REFUSED, ...REPORTED_MISSING }
  const numbers = Object.entries(tried).flatMap(([name, { [processor]: number }]) =>
    number === undefined ? [] : [`${name} ${number}`],
  )
  const script = `while (<STDIN>) { my ($name, $number) = split; syscall($number + 0, -1, -1, -1, -1, -1, -1); print "$name ", $! + 0, "\\n" }`
  const [NEWUSER, SIGCHLD] = [0x10000000, 17]
  const clone = `perl -e '$r = syscall(${FILTERED.clone[processor]}, ${NEWUSER | SIGCHLD}, 0, 0, 0, 0); exit 0 if $r == 0; print "clone ", $! + 0, "\\n"'`
  const { text } = await run({ command: `printf '${numbers.join("\\n")}\\n' | perl -e '${script}'; ${clone}` })
  const answers = Object.fromEntries(
    [...text.matchAll(/^(\w+) (\d+)$/gm)].map(([, name, code]) => [name, Number(code)]),
  )
  const expected = numbers
    .map((line) => line.split(" ")[0] ?? "")
    .map((name) => [name, name in REPORTED_MISSING ? 38 : 1])
  expect(answers).toEqual({ ...Object.fromEntries(expected), clone: 1 })
})

test("threads, pipes, pairs of sockets, compilers and workers work as usual", async () => {
  const { run } = open(findSandbox(place()))
  const script = `
    const { spawnSync, spawn } = require("child_process"); const { Worker } = require("worker_threads");
    const http = require("http");
    new Worker("require('worker_threads').parentPort.postMessage('thread')", { eval: true }).on("message", console.log);
    console.log(spawnSync("sh", ["-c", "echo piped | cat"]).stdout.toString().trim(), Object.keys(require("os").networkInterfaces()).length);
    const child = spawn(process.execPath, ["-e", "process.send('told')"], { stdio: ["ignore", "ignore", "ignore", "ipc"] });
    child.on("message", console.log);
    const server = http.createServer((_, r) => r.end("served")).listen(0, async () => { console.log(await (await fetch("http://127.0.0.1:" + server.address().port)).text()); server.close() });`
  const { text } = await run({ command: `'${process.execPath}' -e '${script.replaceAll("'", `'"'"'`)}'` })
  for (const word of ["thread", "piped", "told", "served"]) expect(text).toContain(word)
})

test("the home folder contains only the programs on the search path", async () => {
  const home = mkdtempSync("/var/tmp/pawl-home-")
  try {
    const secrets = [
      ...[".git-credentials", ".gitconfig", ".pgpass", ".bash_history", ".cargo/credentials.toml", ".claude/key.json"],
      ...[".config/gh/hosts.yml", ".local/share/keyrings/x", ".aws/credentials", "Documents/diary", ".env"],
    ]
    const programs = [".cargo/bin/tool", ".nvm/versions/node/v1/bin/nodeish", ".local/bin/mine", "odd/place/own"]
    for (const path of [...secrets, ...programs, ".nvm/versions/node/v1/lib/part"]) {
      mkdirSync(join(home, path, ".."), { recursive: true })
      writeFileSync(join(home, path), path.endsWith("part") ? "a part\n" : "#!/bin/sh\necho hush\n", { mode: 0o755 })
    }
    writeFileSync(join(home, ".nvm/versions/node/v1/bin/nodeish"), `#!/bin/sh\ncat "$(dirname "$0")/../lib/part"\n`)
    writeFileSync(join(home, ".gitconfig"), `[user]\n\tname = Ada \\"A\\"\n[alias]\n\tst = !echo hush\n`)
    const folders = [".cargo/bin", ".nvm/versions/node/v1/bin", ".local/bin", "odd/place", ""]
    const searchPath = [PATH, ...folders.map((path) => join(home, path))].join(":")
    const { run } = open(findSandbox(place({ home, searchPath })))
    const command = [
      ...secrets.map((path) => `cat '${home}/${path}'`),
      "nodeish && command -v mine && command -v tool && command -v own && git config user.name; git st; ls -a ~; echo kept > ~/.cache-of-mine",
    ].join("; ")
    const { text } = await run({ command })
    expect(text).not.toContain("hush")
    expect(text).toContain("a part")
    expect(text).toContain('Ada "A"')
    for (const path of ["mine", "tool", "own"]) expect(text).toMatch(new RegExp(`^/.*/${path}$`, "m"))
    expect(existsSync(join(home, ".cache-of-mine"))).toBe(false)
    // Its own home is kept for the next command.
    expect((await run({ command: "cat ~/.cache-of-mine" })).text).toContain("kept")
  } finally {
    rmSync(home, { recursive: true })
  }
})

test("links that a command leaves in its home do not create files outside", async () => {
  const home = mkdtempSync("/var/tmp/pawl-home-")
  const outside = scratch()
  try {
    const root = join(home, "work/project")
    mkdirSync(root, { recursive: true })
    const { run } = open(findSandbox(place({ home, root })), { root })
    await run({
      command: `rm -rf ~/work ~/.gitconfig; ln -s /oldroot${outside} ~/work; ln -s /oldroot${outside}/x ~/.gitconfig`,
    })
    expect((await run({ command: "pwd" })).text).toContain(root)
    expect(existsSync(join(outside, "project")) || existsSync(join(outside, "x"))).toBe(false)
  } finally {
    rmSync(home, { recursive: true })
  }
})

test("npm installs from a registry if the network was approved", async ({ skip }) => {
  skip(spawnSync("npm", ["--version"]).status !== 0, "npm is missing")
  const made = scratch()
  mkdirSync(join(made, "package"))
  writeFileSync(join(made, "package/package.json"), JSON.stringify({ name: "tiny", version: "1.0.0" }))
  skip(spawnSync("tar", ["czf", "tiny.tgz", "package"], { cwd: made }).status !== 0, "tar is missing")
  await using registry = createHttpServer((request, response) => {
    if (request.url?.endsWith(".tgz")) return response.end(readFileSync(join(made, "tiny.tgz")))
    const dist = { tarball: `http://127.0.0.1:${(registry.address() as AddressInfo).port}/tiny.tgz` }
    const versions = { "1.0.0": { name: "tiny", version: "1.0.0", dist } }
    return response.end(JSON.stringify({ name: "tiny", "dist-tags": { latest: "1.0.0" }, versions }))
  })
  await listening(registry, 0)
  const { run, root } = open(findSandbox(place()))
  const address = `http://127.0.0.1:${(registry.address() as AddressInfo).port}/`
  const options = `--no-save --no-audit --no-fund --registry=${address}`
  const { text, status } = await run({ command: `npm install tiny ${options}`, network: true, seconds: 120 })
  expect([status, text]).toEqual(["ok", expect.stringContaining("added 1 package")])
  expect(existsSync(join(root, "node_modules/tiny/package.json"))).toBe(true)

  // Installing a named package writes package.json, which always needs approval.
  writeFileSync(join(root, "package.json"), JSON.stringify({ name: "mine", version: "1.0.0" }))
  const noted = { command: `npm install tiny ${options.replace("--no-save", "")}`, network: true, seconds: 120 }
  const refused = await run(noted)
  expect([refused.status, refused.text]).toEqual([
    "error",
    expect.stringMatching(/EROFS[^]*read-only here \(package\.json\): run it again with changes_protected: true/),
  ])
  const agreed = await run({ ...noted, changes_protected: true })
  expect(agreed.status, agreed.text).toBe("ok")
  expect(readFileSync(join(root, "package.json"), "utf8")).toContain('"tiny"')
})

const few = { megabytes: 300, processes: 60, openFiles: 64 }

test("a command that takes all the memory is ended, and so is one that makes processes without end", async () => {
  const { run, root } = open(findSandbox(place()), { limits: few })
  // Many small allocations.
  const eat = `'${process.execPath}' -e 'const all = []; for (;;) all.push(Buffer.alloc(5e6, 1))'`
  expect((await run({ command: `${eat} & ${eat} & ${eat} & wait` })).text).toContain("more than 300 MB of memory")
  const bomb = "bomb() { printf x >> made; bomb | bomb & sleep 60; }; bomb; wait"
  const { text } = await run({ command: bomb, seconds: 5 })
  expect(text).toMatch(/more than 60 processes|[Cc]annot fork|Resource temporarily unavailable/)
  // Other processes of this machine are not affected: there never were thousands. Root is limited only if it may create
  // a group.
  await using group = boundProcesses(few.processes)
  if (group || process.getuid?.() !== 0) expect(statSync(join(root, "made")).size).toBeLessThan(1000)
})

test("one process alone is refused more memory, and files, than it may have", async () => {
  const { run } = open(findSandbox(place()), { limits: few })
  const { text, status } = await run({ command: "tail /dev/zero; ulimit -n" })
  expect(status).toBe("error")
  expect(text).toMatch(/more than 300 MB|exhausted|cannot allocate/i)
  expect((await run({ command: "ulimit -n; ulimit -c" })).text).toMatch(/64\n0/)
})

test("a program that reserves far more memory than it touches runs, as sanitizers do", async ({ skip }) => {
  const made = scratch()
  const source = `#include <sys/mman.h>
int main() { return mmap(0, 1L << 40, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) == MAP_FAILED; }`
  writeFileSync(join(made, "reserve.c"), source)
  skip(spawnSync("cc", ["-o", "reserve", "reserve.c"], { cwd: made }).status !== 0, "there is no compiler for C")
  skip(spawnSync(join(made, "reserve")).status !== 0, "this machine lets nobody reserve so much")
  expect(await open(findSandbox(place()), { root: made, limits: few }).run({ command: "./reserve" })).toMatchObject({
    status: "ok",
  })
})

test("/tmp of a command is deleted with it, and is not the machine's", async () => {
  const mine = scratch()
  symlinkSync("/", join(mine, "link"))
  const { run } = open(findSandbox(place()))
  expect((await run({ command: `ls ${mine}; echo a > /tmp/mark; cat /tmp/mark` })).text).toMatch(
    /No such file|cannot access/,
  )
  expect((await run({ command: "cat /tmp/mark" })).status).toBe("error")
})
