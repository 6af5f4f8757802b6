import { useEffect } from "react"
import { useLoaded } from "../../parts/use-loaded.tsx"
import { client } from "../../state/client.ts"

/** While none is there one looks again so often: it is started beside this page, and nobody tells of it. */
const LOOK_AGAIN_MS = 5000

/** The machine with a folder that the agent `files` would work in: null where none is connected, undefined until it is known. */
export function useFolder(isWanted: boolean): string | null | undefined {
  const { value, reload } = useLoaded(async () => {
    if (!isWanted) return undefined
    const { items } = await client.listDevices()
    return items.find(({ offers }) => offers.includes("files"))?.deviceId ?? null
  })
  useEffect(() => {
    if (isWanted) void reload()
  }, [isWanted, reload])
  const isMissing = isWanted && value === null
  useEffect(() => {
    if (!isMissing) return
    const timer = setInterval(() => {
      if (document.visibilityState === "visible") void reload()
    }, LOOK_AGAIN_MS)
    return () => clearInterval(timer)
  }, [isMissing, reload])
  return value
}
