import { attempt } from "../../parts/explain.ts"
import { client } from "../../state/client.ts"
import { toast } from "../../state/toasts.ts"

/** Stops what is at work, whoever has started it, on whatever device. */
export async function stopRun(id: string): Promise<void> {
  await attempt(async () => {
    const { cancelled } = await client.cancelRun({ params: { id } })
    if (!cancelled) toast("It had ended already.")
  })
}
