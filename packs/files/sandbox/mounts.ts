import { existsSync, lstatSync, readlinkSync, realpathSync, statSync } from "node:fs"
import { dirname, join } from "node:path"
import { isInside } from "../folder/find-program.ts"
import type { RepositoryMount } from "./repository.ts"
import type { SandboxHome } from "./home.ts"
import { toolchainFolders } from "./toolchains.ts"

/** Parts of the system that are mounted completely: programs and libraries, which are public. */
const SYSTEM = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"]

/** Files of `/etc` that programs need; the rest may contain keys of services. */
const SETTINGS = [
  ...["alternatives", "ca-certificates", "ca-certificates.conf", "crypto-policies", "pki/ca-trust", "pki/tls/certs"],
  ...["pki/tls/cert.pem", "pki/tls/openssl.cnf", "ssl/certs", "ssl/cert.pem", "ssl/openssl.cnf", "ssl/ca-bundle.pem"],
  ...["ld.so.cache", "ld.so.conf", "ld.so.conf.d", "passwd", "group", "nsswitch.conf", "gai.conf", "host.conf"],
  ...["hosts", "services", "protocols", "networks", "localtime", "timezone", "locale.conf", "locale.alias"],
  ...["os-release", "lsb-release", "debian_version", "redhat-release", "alpine-release", "arch-release"],
  ...["mime.types", "magic", "fonts", "terminfo", "shells", "login.defs", "inputrc", "bash.bashrc", "bashrc"],
  ...["perl", "python3", "java", "maven", "texmf", "ghostscript", "ImageMagick-6", "ImageMagick-7", "R", "papersize"],
].map((name) => `/etc/${name}`)

/** Files in which runtimes read the number of processors, and caches of system programs. */
const PREPARED = ["/sys/devices/system/cpu", "/sys/devices/system/node", "/var/lib/texmf", "/var/cache/fontconfig"]

export interface Mounts {
  readonly root: string
  readonly searchPath: string
  /** The real path of the person's home. */
  readonly home: string
  readonly sandboxHome: SandboxHome
  /** A new folder that is deleted afterwards. */
  readonly temporary: string
  readonly network: boolean
  /** Other folders, mounted read-only. */
  readonly reads?: readonly string[]
  /** The parts of the folder's git repository that are outside of it. */
  readonly git?: readonly RepositoryMount[] | undefined
}

interface Mount {
  readonly at: string
  readonly words: readonly string[]
}

/** The mounts of the sandbox as arguments for bubblewrap. Everything else is not visible. */
export function mountsFor(mounts: Mounts): string[] {
  const { root, searchPath, home, sandboxHome, temporary, network, reads = [], git = [] } = mounts
  const shown: Mount[] = [
    ...SYSTEM.flatMap(asItIs),
    ...[...SETTINGS, ...PREPARED].flatMap(readOnly),
    // Names are resolved only with the network. Without it, a link would lead to a missing file.
    ...(network ? readOnly("/etc/resolv.conf") : []),
    { at: "/proc", words: ["--proc", "/proc"] },
    { at: "/dev", words: ["--dev", "/dev"] },
    ...Object.entries(TEMPORARY_FOLDERS).map(([path, name]) => bind(join(temporary, name), path)),
    bind(sandboxHome.path, HOME_INSIDE),
    { at: "/etc/gitconfig", words: ["--ro-bind", sandboxHome.gitConfiguration, "/etc/gitconfig"] },
    ...toolchainFolders({ searchPath, home, root }).flatMap(readOnly),
    ...reads.filter((path) => !isInside(path, root)).flatMap(readOnly),
    ...git,
    bind(root, root),
  ]
  // Outer mounts first: an outer one would cover an inner one.
  const ordered = shown.sort((a, b) => depth(a.at) - depth(b.at))
  // Folders that exist only as mount points become read-only, because they are in memory.
  return [...ordered.flatMap(({ words }) => words), "--remount-ro", "/dev", "--remount-ro", "/"]
}

/**
 * The folders that a command may write to in addition to the work folder, each with the name of a new folder that is
 * deleted afterwards.
 */
export const TEMPORARY_FOLDERS = { "/tmp": "tmp", "/var/tmp": "var-tmp", "/dev/shm": "shm" } as const

/**
 * The path of the sandbox's home. Nothing is mounted below it: a command could leave a link there, and the next mount
 * would follow it.
 */
export const HOME_INSIDE = "/sandbox/home"

const bind = (from: string, at: string): Mount => ({ at, words: ["--bind", from, at] })

function readOnly(path: string): Mount[] {
  return existsSync(path) ? [{ at: path, words: ["--ro-bind", realpathSync(path), path] }] : []
}

function asItIs(path: string): Mount[] {
  const stat = lstatSync(path, { throwIfNoEntry: false })
  if (!stat) return []
  return stat.isSymbolicLink() ? [{ at: path, words: ["--symlink", readlinkSync(path), path] }] : readOnly(path)
}

const depth = (path: string) => path.split("/").filter(Boolean).length

/**
 * Covers hidden paths in the folder, and mounts protected ones read-only. A directory with a mount below it cannot be
 * renamed. Covers come last, because a read-only mount would make a hidden path visible again.
 */
export function coversIn(root: string, hidden: readonly string[], readOnlyPaths: readonly string[]): string[] {
  const inner = hidden.filter((path) => path !== root && isInside(path, root))
  const parents = [...new Set(inner.flatMap((path) => between(root, path)))].sort()
  return [
    ...parents.flatMap((way) => ["--bind-try", way, way]),
    ...readOnlyPaths.flatMap((path) => ["--ro-bind-try", join(root, path), join(root, path)]),
    ...inner.flatMap(cover),
  ]
}

/** Covers hidden paths in a read-only folder, where nothing can be renamed. */
export function coversOf(folder: string, hidden: readonly string[]): string[] {
  return hidden.filter((path) => path !== folder && isInside(path, folder)).flatMap(cover)
}

/** A path that was deleted in the meantime cannot be covered and does not need to be. */
function cover(path: string): string[] {
  if (!existsSync(path)) return []
  return statSync(path).isDirectory() ? ["--tmpfs", path, "--remount-ro", path] : ["--ro-bind", "/dev/null", path]
}

function between(root: string, path: string): string[] {
  const above = dirname(path)
  return above === root ? [] : [...between(root, above), above]
}
