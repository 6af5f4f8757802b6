import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { needsPostgres, type Place, type VariantName } from "./contender.ts"
import { type Postgres, startPostgres } from "./postgres.ts"

/** Creates folders and databases for contenders, and deletes all of them at the end. */
export class Places {
  // BENCH_TMP names another disk. It must not be one in memory, or fsync would cost nothing.
  readonly #disk = process.env.BENCH_TMP ?? tmpdir()
  readonly #root = mkdtempSync(join(this.#disk, "pawl-bench-"))
  #count = 0
  #postgres: Promise<Postgres> | undefined
  #bundle: Promise<string> | undefined
  #package: Promise<string> | undefined

  constructor() {
    process.on("exit", () => this.#remove())
  }

  /** The server, started on first use. Rejects if there are no binaries for it. */
  postgres(): Promise<Postgres> {
    return (this.#postgres ??= startPostgres(this.#disk))
  }

  /** The bundled child, built on first use. */
  bundle(): Promise<string> {
    return (this.#bundle ??= import("./bundle.ts").then(({ bundleChild }) => bundleChild(join(this.#root, "bundle"))))
  }

  /** The command as published, built on first use. */
  package(): Promise<string> {
    return (this.#package ??= import("./nodes/package.ts").then(({ buildPackage }) =>
      buildPackage(join(this.#root, "package")),
    ))
  }

  async open(variant: VariantName): Promise<Place & AsyncDisposable> {
    const folder = join(this.#root, `place-${++this.#count}`)
    mkdirSync(folder)
    const database = needsPostgres(variant) ? await (await this.postgres()).createDatabase() : undefined
    return {
      folder,
      ...(database ? { postgresUrl: database.url } : {}),
      async [Symbol.asyncDispose]() {
        rmSync(folder, { recursive: true, force: true })
        await database?.drop()
      },
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const postgres = await this.#postgres?.catch(() => undefined)
    await postgres?.stop()
    this.#remove()
  }

  /** Retried, because a child that was just killed may still be writing. */
  #remove(): void {
    rmSync(this.#root, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 })
  }
}
