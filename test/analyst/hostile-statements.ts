import { createHash } from "node:crypto"
import { lstatSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import type { DatabaseKind, DatabaseUse } from "../../packs/analyst/database/kind.ts"
import type { Target } from "../../core/protocol/databases/connections.ts"
import { codeOf } from "../../core/protocol/errors.ts"

/** The attempts of a file in test/fixtures, with their placeholders filled in. */
export function attemptsOf(name: string, fill: Readonly<Record<string, string>>): string[] {
  const text = readFileSync(join(import.meta.dirname, "..", "fixtures", name), "utf8")
  const [, ...lines] = text.split("\n").filter((line) => line !== "")
  return lines.map((line) => line.replaceAll(/\{(\w+)\}/g, (whole, key: string) => fill[key] ?? whole))
}

/** The names and bytes of all files in a folder. */
export function stateOf(folder: string): string {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).sort()
  return names
    .map((name) => {
      const path = join(folder, name)
      return lstatSync(path).isFile()
        ? `${name} ${createHash("sha256").update(readFileSync(path)).digest("hex")}`
        : name
    })
    .join("\n")
}

/** Runs each and returns its outcome: the code of a refusal, or `ran`. Any other error breaks the test. */
export async function tryEach<T extends Target>(
  kind: DatabaseKind<T>,
  place: Omit<DatabaseUse<T>, "signal">,
  attempts: readonly string[],
): Promise<Map<string, string>> {
  const outcomes = new Map<string, string>()
  for (const sql of attempts) {
    const { signal } = new AbortController()
    const told = await kind.query({ ...place, signal } as DatabaseUse<T>, sql).then(
      () => "ran",
      (error: unknown) => {
        const code = codeOf(error)
        if (code === undefined) throw new Error(`${sql} broke it`, { cause: error })
        return code
      },
    )
    outcomes.set(sql, told)
  }
  return outcomes
}
