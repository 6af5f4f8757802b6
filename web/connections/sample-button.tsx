import { Store } from "../icons/things.ts"
import { useState } from "react"
import { Button } from "../parts/button.tsx"
import { attempt } from "../parts/explain.ts"
import type { ConnectionView } from "../state/connections.ts"
import { connectSample, isSample } from "./sample.ts"

interface SampleButtonProps {
  readonly items: readonly ConnectionView[]
}

/** A database to ask at once, for whoever has none at hand; gone when they have it. */
export function SampleButton({ items }: SampleButtonProps) {
  const [isBusy, setBusy] = useState(false)
  if (items.some(isSample)) return null
  const add = async () => {
    setBusy(true)
    await attempt(connectSample)
    setBusy(false)
  }
  return (
    <Button small className="mt-3" disabled={isBusy} onClick={() => void add()}>
      <Store className="size-4" />
      Add the sample shop
    </Button>
  )
}
