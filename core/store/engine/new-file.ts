import { access, link, open, rename } from "node:fs/promises"

/** Gives a file that is whole its name. Rejects with `EEXIST` rather than take the place of another. */
export async function giveName(partial: string, to: string): Promise<void> {
  try {
    // A second name for the same file: unlike renaming, this fails when somebody else has made the target meanwhile.
    await link(partial, to)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== "EPERM" && code !== "ENOTSUP" && code !== "ENOSYS") throw error
    if (await exists(to)) throw existing(to) // a file system without second names
    await rename(partial, to)
  }
}

/** The name of a file is durable when its folder is. Not every system lets a folder be opened. */
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

export const existing = (path: string) => Object.assign(new Error(`${path} exists already`), { code: "EEXIST" })
