import { existsSync, readdirSync, realpathSync, statSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { isInside, trustedEntries } from "../folder/find-program.ts"

/** Folders of the system, which are mounted anyway. */
const SYSTEM = ["/usr", "/bin", "/sbin", "/lib", "/lib64"]
/** Folders that are never mounted as a toolchain, because they contain too much else. */
const TOO_WIDE = new Set([
  "/",
  "/home",
  "/root",
  "/etc",
  "/run",
  "/var",
  "/proc",
  "/sys",
  "/dev",
  "/tmp",
  "/opt",
  "/mnt",
])

/** Only these subfolders, because credentials are stored next to them. */
const UV = [".local/share/uv/python", ".local/share/uv/tools"]

/** Language managers in the home folder, with those of their folders that contain programs and no credentials. */
const MANAGERS: Readonly<Record<string, readonly string[]>> = {
  ".local/bin": [".local/bin", ".local/lib", ".local/pipx/venvs", ".local/share/pipx/venvs", ...UV],
  ".local/share/mise": [".local/share/mise/shims", ".local/share/mise/installs", ".local/share/mise/plugins"],
  ".cargo": [".cargo/bin", ".rustup"],
  ".pyenv": [".pyenv"],
  ".rbenv": [".rbenv"],
  ".nodenv": [".nodenv"],
  ".asdf": [".asdf"],
  ".volta": [".volta/bin", ".volta/tools"],
  ".sdkman": [".sdkman/candidates"],
  ".ghcup": [".ghcup/bin", ".ghcup/ghc", ".ghcup/cabal", ".ghcup/hls", ".ghcup/stack"],
  ".juliaup": [".juliaup/bin", ".julia/juliaup"],
  ".elan": [".elan/bin", ".elan/toolchains", ".elan/settings.toml"],
  go: ["go/bin"],
}

/** Variables that tell managers the folders of their files, because the sandbox has another home. */
const VARIABLES: Readonly<Record<string, string>> = {
  RUSTUP_HOME: ".rustup",
  PYENV_ROOT: ".pyenv",
  RBENV_ROOT: ".rbenv",
  NODENV_ROOT: ".nodenv",
  ASDF_DATA_DIR: ".asdf",
  ASDF_DIR: ".asdf",
  VOLTA_HOME: ".volta",
  MISE_DATA_DIR: ".local/share/mise",
  ELAN_HOME: ".elan",
}

export interface Tools {
  readonly searchPath: string
  /** Its real path. */
  readonly home: string
  readonly root: string
}

/**
 * The folders that programs on the search path need, besides the system's: of an installation with `bin` the whole
 * installation, of a language manager its known folders, otherwise only the entry. Never the home folder itself.
 */
export function toolchainFolders({ searchPath, home, root }: Tools): string[] {
  const entries = trustedEntries(searchPath, root)
  const linked = ["/usr/local/bin", "/usr/local/sbin"].flatMap(linkedInstallations)
  const found = [...entries.flatMap((entry) => foldersOf(entry, home)), ...linked]
  const usable = [...new Set(found)].filter((path) => !isOfSystem(path) && !TOO_WIDE.has(path) && !isInside(home, path))
  return usable.filter((path) => existsSync(path)).sort()
}

/** The search path with links resolved, because a link's own folder may not be mounted. */
export function resolvedSearchPath({ searchPath, root }: Omit<Tools, "home">): string {
  const entries = searchPath.split(":").flatMap((entry) => {
    const inFolder = entry.startsWith("/") && isInside(entry, root)
    return inFolder ? [entry] : trustedEntries(entry, root)
  })
  return [...new Set(entries)].join(":")
}

/** The variables of installed managers. */
export function toolchainVariables(home: string): Record<string, string> {
  const there = Object.entries(VARIABLES).filter(([, name]) => isDirectory(join(home, name)))
  return Object.fromEntries(there.map(([variable, name]) => [variable, join(home, name)]))
}

function foldersOf(entry: string, home: string): string[] {
  for (const [name, parts] of Object.entries(MANAGERS))
    if (isInside(entry, join(home, name))) return parts.map((part) => join(home, part))
  if (isInside(entry, "/nix")) return ["/nix/store"]
  const above = dirname(entry)
  if (basename(entry) === ".bin" && basename(above) === "node_modules") return [above]
  const isInstallation = basename(entry) === "bin" && isDirectory(join(above, "lib"))
  // Many home folders contain `bin` and `lib` next to everything else.
  return isInstallation && above !== home && above !== join(home, ".local") && !TOO_WIDE.has(above) ? [above] : [entry]
}

/** Installations in /opt that are linked from the search path. */
function linkedInstallations(folder: string): string[] {
  if (!isDirectory(folder)) return []
  const links = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isSymbolicLink())
  return links.flatMap(({ name }) => {
    try {
      return /^\/opt\/[^/]+/.exec(realpathSync(join(folder, name))) ?? []
    } catch {
      return [] // a broken link
    }
  })
}

const isOfSystem = (path: string) => SYSTEM.some((folder) => isInside(path, folder))
const isDirectory = (path: string) => existsSync(path) && statSync(path).isDirectory()
