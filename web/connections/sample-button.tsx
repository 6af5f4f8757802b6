import { Store } from "lucide-react"
import { useState } from "react"
import { Button } from "../parts/button.tsx"
import { attempt } from "../parts/explain.ts"
import { client } from "../state/client.ts"
import { type ConnectionView, loadConnections } from "../state/connections.ts"

interface SampleButtonProps {
  readonly items: readonly ConnectionView[]
}

/** A database to ask at once, for whoever has none at hand; gone when they have it. */
export function SampleButton({ items }: SampleButtonProps) {
  const [isBusy, setBusy] = useState(false)
  if (items.some(({ path }) => path === "shared/sample-shop.db")) return null
  const add = async () => {
    setBusy(true)
    await attempt(async () => {
      await client.sampleConnection()
      await loadConnections()
    })
    setBusy(false)
  }
  return (
    <Button small className="mt-3" disabled={isBusy} onClick={() => void add()}>
      <Store className="size-4" />
      Add the sample shop
    </Button>
  )
}
