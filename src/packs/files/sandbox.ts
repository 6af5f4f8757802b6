import { spawnSync } from "node:child_process"
import { existsSync, realpathSync, statSync } from "node:fs"
import { dirname, join } from "node:path"
import { findProgram, isInside } from "./find-program.ts"

/** What surrounds a command, so that it reaches no further than it was said to. */
export interface Sandbox {
  /** For the proposal and the result: what holds, in a sentence. */
  readonly says: string
  /** Whether writes outside of the folder, and network that was not asked for, are really kept from it. */
  readonly holds: boolean
  wrap(command: readonly string[], how: Wrapping): { readonly program: string; readonly arguments: readonly string[] }
}

export interface Wrapping {
  readonly root: string
  readonly network: boolean
  /** Paths in the folder that it may read and not change. */
  readonly readOnly: readonly string[]
}

/** Places where people keep what is secret: not there at all. */
const HIDDEN_AT_HOME = [
  ".ssh",
  ".gnupg",
  ".aws",
  ".azure",
  ".config",
  ".kube",
  ".docker",
  ".netrc",
  ".npmrc",
  ".local/share",
  ".pawl",
]

/** With bubblewrap where it is installed and this machine lets it work; otherwise none, and it says so. */
export function findSandbox(searchPath: string, hidden: readonly string[], root: string): Sandbox {
  const program = findProgram("bwrap", searchPath, root)
  if (process.platform !== "linux" || !program) return noSandbox
  return works(program) ? bubblewrap(program, hidden) : { ...noSandbox, says: CANNOT }
}

/** Inside many containers it may not make the namespaces that it is made of. */
function works(program: string): boolean {
  const walls = ["--unshare-user-try", "--unshare-pid", "--unshare-net", "--ro-bind", "/", "/", "--proc", "/proc"]
  // Nothing of ours is given to it: neither keys nor a search path.
  const bare = { stdio: "ignore", timeout: PROBE_MS, env: {}, cwd: "/" } as const
  const { status } = spawnSync(program, [...walls, "--", "/bin/sh", "-c", "exit 0"], bare)
  return status === 0
}

const PROBE_MS = 2000
const CANNOT =
  "without a sandbox: bubblewrap (bwrap) is installed but cannot make its namespaces here, so it can read and change whatever you can, and use the network"

export const noSandbox: Sandbox = {
  says: "without a sandbox: bubblewrap (bwrap) is not installed, so it can read and change whatever you can, and use the network",
  holds: false,
  wrap: ([program = "", ...rest]) => ({ program, arguments: rest }),
}

export function bubblewrap(program: string, hidden: readonly string[]): Sandbox {
  return {
    says: "in a sandbox (bubblewrap): the system is read-only, only the work folder can be changed",
    holds: true,
    wrap(command, { root, network, readOnly }) {
      const binds = readOnly.flatMap((path) => ["--ro-bind-try", join(root, path), join(root, path)])
      const covers = hidden.flatMap(cover)
      // The folder is mounted over what was hidden before, so what lies in it is hidden once more, and last: those that
      // are read-only show themselves again. What leads there cannot be renamed while something is mounted on it.
      const inner = hidden.filter((path) => path !== root && isInside(path, root))
      const ways = [...new Set(inner.flatMap((path) => between(root, path)))].sort()
      const covered = [...ways.flatMap((way) => ["--bind-try", way, way]), ...binds, ...inner.flatMap(cover)]
      const walls = [
        ...[
          "--die-with-parent",
          "--new-session",
          "--unshare-user-try",
          "--unshare-pid",
          "--unshare-ipc",
          "--unshare-uts",
        ],
        ...["--unshare-cgroup-try", ...(network ? [] : ["--unshare-net"]), "--cap-drop", "ALL"],
        ...["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp", "--tmpfs", "/run", ...covers],
        // Names are looked up there on many systems; the sockets beside it lead out of every wall.
        ...(network ? ["--ro-bind-try", "/run/systemd/resolve", "/run/systemd/resolve"] : []),
        ...["--bind", root, root, ...covered, "--chdir", root],
      ]
      return { program, arguments: [...walls, "--", ...command] }
    },
  }
}

/** What has gone since then needs no cover, and could not be given one. */
const cover = (path: string) =>
  !existsSync(path) ? [] : isDirectory(path) ? ["--tmpfs", path] : ["--ro-bind", "/dev/null", path]

function between(root: string, path: string): string[] {
  const above = dirname(path)
  return above === root ? [] : [...between(root, above), above]
}

/** What a sandbox hides: those of the usual places that are there, and our own data. */
export function hiddenPlaces(home: string, dataFolder: string): string[] {
  return [...HIDDEN_AT_HOME.map((name) => join(home, name)), dataFolder]
    .filter((path) => existsSync(path))
    .map((path) => realpathSync(path))
}

const isDirectory = (path: string) => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
