import { useEffect, useState } from "react"
import { Button } from "../parts/button.tsx"
import { attempt } from "../parts/explain.ts"
import { Plain } from "../parts/plain.tsx"
import { goToIssuer } from "../state/identity.ts"
import { client } from "../state/client.ts"

/** Where whoever runs the server has an issuer: the way in without a link. Where it cannot be learnt, links are said below. */
export function IssuerButton() {
  const [label, setLabel] = useState<string>()
  const [isGoing, setGoing] = useState(false)
  useEffect(() => {
    client.readSignInWays().then(
      ({ oidc }) => setLabel(oidc?.label),
      () => {},
    )
  }, [])
  if (label === undefined) return null
  const go = async () => {
    setGoing(true)
    if (!(await attempt(goToIssuer))) setGoing(false)
  }
  return (
    <Button look="main" disabled={isGoing} onClick={() => void go()}>
      Sign in with <Plain text={label} />
    </Button>
  )
}
