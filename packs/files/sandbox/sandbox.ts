import { spawnSync } from "node:child_process"
import { existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync } from "node:fs"
import { rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { findProgram } from "../folder/find-program.ts"
import { SandboxHome } from "./home.ts"
import { coversIn, coversOf, HOME_INSIDE, mountsFor, TEMPORARY_FOLDERS } from "./mounts.ts"
import { repositoryMounts, repositoryOf, removeNewRedirects } from "./repository.ts"
import { hasFilter, seccompFilter } from "./seccomp-filter.ts"
import type { Processor } from "./system-calls.ts"
import { resolvedSearchPath, toolchainVariables } from "./toolchains.ts"

/** The sandbox of a command, which limits its access. */
export interface Sandbox {
  /** A sentence about what is restricted, for the proposal and the result. */
  readonly description: string
  /** True if it really prevents writes outside the folder and network access that was not requested. */
  readonly isEnforced: boolean
  /** How to enable it, as a sentence without its full stop; undefined if it is enforced. */
  readonly remedy?: string
  wrap(command: readonly string[], how: Wrapping): Promise<Wrapped>
}

export interface Wrapping {
  readonly root: string
  readonly network: boolean
  /** Paths in the folder that it may read and not change. */
  readonly readOnly: readonly string[]
  /** Other folders that it may read and not change. */
  readonly reads?: readonly string[]
  /** Access to the git repository of the folder if that is outside of it. Default: none. */
  readonly git?: "read" | "write"
}

export interface Wrapped extends AsyncDisposable {
  readonly program: string
  readonly arguments: readonly string[]
  /** Changes to its environment. */
  readonly environment?: Readonly<Record<string, string>>
  /** The contents of the program's descriptor 3. */
  readonly descriptor3?: Buffer
}

export interface SandboxOptions {
  readonly searchPath: string
  /** The work folder. */
  readonly root: string
  /** The person's home folder. */
  readonly home: string
  /** Paths in the work folder that are covered. */
  readonly hidden: readonly string[]
  /** The folder with the homes of sandboxes, in Pawl's data. */
  readonly homes: string
  /** The short id of the work folder. */
  readonly id: string
  /** Certificates and toolchains that the environment names, mounted read-only. */
  readonly shown?: readonly string[]
}

/** Paths of secrets in home folders. They are not mounted, even if the work folder is the home folder. */
const SECRET_AT_HOME = [
  ...[".ssh", ".gnupg", ".aws", ".azure", ".oci", ".config", ".kube", ".docker", ".netrc", ".npmrc", ".local/share"],
  ...[".local/state", ".pawl", ".git-credentials", ".gitconfig", ".pgpass", ".my.cnf", ".mylogin.cnf", ".pypirc"],
  ...[".cargo/credentials", ".cargo/credentials.toml", ".gem/credentials", ".m2/settings.xml", ".composer/auth.json"],
  ...[".gradle/gradle.properties", ".terraform.d", ".terraformrc", ".vault-token", ".password-store", ".mozilla"],
  ...[".claude", ".claude.json", ".codex", ".gemini", ".cursor", ".aider.conf.yml", ".netrc.gpg", ".authinfo"],
  ...[".lesshst", ".viminfo", ".wget-hsts", ".histfile", ".cache"],
]

/** The paths that a sandbox hides: the usual ones that exist, and Pawl's data. */
export function hiddenPaths(home: string, ...ours: string[]): string[] {
  const histories = existsSync(home) ? readdirSync(home).filter((name) => /^\..*_history$/.test(name)) : []
  return [...[...SECRET_AT_HOME, ...histories].map((name) => join(home, name)), ...ours]
    .filter((path) => existsSync(path))
    .map((path) => realpathSync(path))
}

/**
 * The sandbox by bubblewrap if it is installed and works on this machine; otherwise one that restricts nothing and
 * reports that.
 */
export function findSandbox(place: SandboxOptions): Sandbox {
  const program = findProgram("bwrap", place.searchPath, place.root)
  if (process.platform !== "linux" || !program) return noSandbox
  if (place.root === "/") return { ...noSandbox, description: WHOLE, remedy: "Name a folder below /" }
  return hasFilter(process.arch) && works(program, process.arch)
    ? bubblewrap(program, place)
    : { ...noSandbox, description: CANNOT, remedy: ALLOW }
}

/** True if bubblewrap works. In many containers it may not create namespaces. */
function works(program: string, processor: Processor): boolean {
  const sandboxArguments = [...NAMESPACES, "--unshare-net", "--ro-bind", "/", "/", "--proc", "/proc"]
  const words = [...sandboxArguments, "--seccomp", "0", "--", "/bin/sh", "-c", "exit 0"]
  // Without our environment, which contains keys.
  const bare = { stdio: ["pipe", "ignore", "ignore"], timeout: PROBE_MS, env: {}, cwd: "/" } as const
  return spawnSync(program, words, { ...bare, stdio: [...bare.stdio], input: seccompFilter(processor) }).status === 0
}

const PROBE_MS = 2000
const CANNOT =
  "without a sandbox: bubblewrap (bwrap) is installed but cannot create namespaces on this machine, so it can read and change whatever you can, and use the network"

const ALLOW =
  "Allow user namespaces: in a container, start it with the options of compose.sandbox.yaml (docs/recipes/use-mcp-servers.md); on a machine, see its settings for unprivileged user namespaces"

const WHOLE = "without a sandbox: the work folder is the whole system, and it can use the network"

export const noSandbox: Sandbox = {
  description:
    "without a sandbox: bubblewrap (bwrap) is not installed, so it can read and change whatever you can, and use the network",
  isEnforced: false,
  remedy: "Install bubblewrap",
  wrap: async ([program = "", ...rest]) => ({ program, arguments: rest, async [Symbol.asyncDispose]() {} }),
}

const NAMESPACES = [
  ...["--die-with-parent", "--new-session", "--unshare-user-try", "--unshare-pid", "--unshare-ipc", "--unshare-uts"],
  ...["--unshare-cgroup-try", "--cap-drop", "ALL"],
]

export function bubblewrap(program: string, place: SandboxOptions): Sandbox {
  const { searchPath, home: givenHome, homes, id, hidden, shown = [] } = place
  const home = existsSync(givenHome) ? realpathSync(givenHome) : givenHome
  const git = findProgram("git", searchPath, place.root)
  const sandboxHome = new SandboxHome({ homes, id, ...(git ? { git: { program: git, home } } : {}) })
  const repository = repositoryOf(place.root, home)
  const also = repository ? `, its git repository (${repository.common})` : ""
  return {
    description: `in a sandbox (bubblewrap) that can change only the work folder and read only it${also} and installed programs`,
    isEnforced: true,
    async wrap(command, { root, network, readOnly, reads: asked = [], git: access }) {
      await sandboxHome.prepare()
      const found = access === undefined || root !== place.root ? undefined : repository
      const tidy = found && access === "write" ? removeNewRedirects(found) : () => {}
      const reads = [...asked, ...shown]
      const temporary = mkdtempSync(join(tmpdir(), "pawl-command-"))
      for (const name of Object.values(TEMPORARY_FOLDERS)) mkdirSync(join(temporary, name), { mode: 0o700 })
      const walls = [
        ...NAMESPACES,
        ...(network ? [] : ["--unshare-net"]),
        ...mountsFor({
          root,
          searchPath,
          home,
          sandboxHome,
          temporary,
          network,
          reads,
          git: found && repositoryMounts(found, root, access === "write"),
        }),
        ...coversIn(root, hidden, readOnly),
        ...[...asked, ...(found ? [found.top, found.common] : [])].flatMap((folder) => coversOf(folder, hidden)),
        ...["--chdir", root, "--seccomp", "3"],
      ]
      return {
        program,
        arguments: [...walls, "--", ...command],
        environment: {
          ...toolchainVariables(home),
          HOME: HOME_INSIDE,
          PATH: resolvedSearchPath({ searchPath, root }),
          TMPDIR: "/tmp",
        },
        descriptor3: seccompFilter(process.arch as Processor),
        async [Symbol.asyncDispose]() {
          tidy()
          await rm(temporary, { recursive: true, force: true }).catch(() => {})
        },
      }
    },
  }
}
