import { access, link, open, rename } from "node:fs/promises"

/** Gives a complete file its final name. Rejects with `EEXIST` instead of replacing another file. */
export async function publishFile(partial: string, to: string): Promise<void> {
  try {
    // A hard link fails if the target was created in the meantime; a rename would replace it.
    await link(partial, to)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== "EPERM" && code !== "ENOTSUP" && code !== "ENOSYS") throw error
    if (await exists(to)) throw alreadyExists(to) // a file system without hard links
    await rename(partial, to)
  }
}

/** Makes the names in a folder durable. Not every system can open a folder. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r").catch(() => undefined)
  await handle?.sync().catch(() => {})
  await handle?.close()
}

export const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  )

export const alreadyExists = (path: string) => Object.assign(new Error(`${path} exists already`), { code: "EEXIST" })
