import { existsSync, statSync } from "node:fs"
import { isAbsolute, join, resolve } from "node:path"
import { isInside } from "../folder/find-program.ts"

type Environment = Readonly<Record<string, string | undefined>>

/** Variables about the user, the shell and the locale. */
const PERSONAL = ["PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR", "NO_COLOR"]
const PROXIES = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"].flatMap((name) => [name, name.toLowerCase()])
/** Files and folders with the certificates of authorities. None of these variables names a private key. */
const CERTIFICATES = [
  ...["SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "AWS_CA_BUNDLE"],
  ...["GIT_SSL_CAINFO", "GIT_SSL_CAPATH", "PIP_CERT", "CARGO_HTTP_CAINFO", "DENO_CERT", "NIX_SSL_CERT_FILE"],
]
/** Variables of toolchains, with a file that the folder must contain. Otherwise the variable means something else. */
const TOOLCHAINS: Readonly<Record<string, string>> = {
  JAVA_HOME: "bin",
  VIRTUAL_ENV: "pyvenv.cfg",
  CONDA_PREFIX: "conda-meta",
  GOROOT: "bin",
  DOTNET_ROOT: "dotnet",
  ANDROID_HOME: "platforms",
}

const SEEN: ReadonlySet<string> = new Set([...PERSONAL, ...PROXIES, ...CERTIFICATES, ...Object.keys(TOOLCHAINS)])

/** Returns the environment for commands: listed names only, so no keys or tokens, and proxies without a password. */
export function commandEnvironment(environment: Environment): Record<string, string> {
  const seen = Object.entries(environment).flatMap(([name, value]) => {
    if (value === undefined || !(SEEN.has(name) || /^LC_[A-Z]+$/.test(name))) return []
    return [[name, PROXIES.includes(name) ? withoutLogin(value) : value] as const]
  })
  return { PATH: "/usr/local/bin:/usr/bin:/bin", ...Object.fromEntries(seen), TERM: "dumb", CI: "1" }
}

const withoutLogin = (address: string): string => address.replace(/^([a-z][a-z\d+.-]*:\/\/)?[^/?#]*@/i, "$1")

/** Returns the existing certificates and toolchains that an environment names. The sandbox mounts them read-only. */
export function pathsInEnvironment(environment: Environment): string[] {
  const certificates = CERTIFICATES.flatMap((name) => pathOf(environment[name]))
  const toolchains = Object.entries(TOOLCHAINS).flatMap(([name, mark]) =>
    pathOf(environment[name]).filter((path) => existsSync(join(path, mark)) && !isWide(path, environment.HOME)),
  )
  return [...new Set([...certificates.filter((path) => !isWide(path, environment.HOME)), ...toolchains])]
}

const pathOf = (path: string | undefined): string[] =>
  path && isAbsolute(path) && existsSync(path) ? [resolve(path)] : []

/** True if a folder is too wide to mount: the home folder, a folder that contains it, or one directly below `/`. */
function isWide(path: string, home = "/"): boolean {
  return statSync(path).isDirectory() && (path.split("/").length <= 2 || isInside(home, path))
}
