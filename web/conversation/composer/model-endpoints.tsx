import { useState } from "react"
import { endpointWords } from "../../../src/client/index.ts"
import { Button } from "../../parts/button.tsx"
import { attempt } from "../../parts/explain.ts"
import { Plain } from "../../parts/plain.tsx"
import { time } from "../../parts/words.ts"
import { type Catalogue, lookAtModels } from "../../state/catalogue.ts"

/** How it goes with the endpoints that list their models: they are asked when the menu opens, and again on request. */
export function ModelEndpoints({ endpoints = [] }: Pick<Catalogue["models"], "endpoints">) {
  const [isAsking, setAsking] = useState(false)
  if (endpoints.length === 0) return null
  const askAgain = async () => {
    setAsking(true)
    await attempt(() => lookAtModels(true))
    setAsking(false)
  }
  const words = endpointWords(endpoints, time)
  return (
    <div className="mt-1 flex shrink-0 items-start gap-2 border-t border-line pt-1.5 pl-2.5 text-[13px] leading-snug text-soft">
      <div role="status" className="min-w-0 flex-1 py-1.5 [overflow-wrap:anywhere]">
        {words.map((text) => (
          <p key={text}>
            <Plain text={text} />
          </p>
        ))}
      </div>
      <Button small look="quiet" disabled={isAsking} onClick={() => void askAgain()}>
        {isAsking ? "Asking…" : "Ask again"}
      </Button>
    </div>
  )
}
