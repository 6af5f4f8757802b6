import { failure } from "../../protocol/errors.ts"
import type { UserId } from "../../protocol/ids.ts"
import type { Proposal } from "../../protocol/proposals/proposal.ts"
import { conflict, type DecidingPorts } from "./decide.ts"

/** Refuses to decide to what would run on a device that is not there: the proposal stays as it is until it comes (DEVICE-05). */
export async function refuseOffline(ports: DecidingPorts, user: UserId, proposal: Proposal): Promise<void> {
  if (proposal.status === "pending" || proposal.status === "in_doubt") await requireReachable(ports, user, proposal)
}

/** The same whatever its status is: for what is about to be looked at anew. */
export async function requireReachable(
  { conversations, agents, devices }: Omit<DecidingPorts, "proposals">,
  user: UserId,
  proposal: Proposal,
): Promise<void> {
  const conversation = await conversations.find(user, proposal.conversationId)
  if (conversation?.site !== "device") return
  const offer = agents.orEmpty(conversation.agent).tools.find(proposal.tool)?.onSite
  const { id, deviceId } = conversation
  if (!offer || (await devices.isReachable({ user, conversation: id, deviceId, offer }))) return
  const device = deviceId === null ? "The device of this conversation" : `The device "${deviceId}"`
  throw conflict(failure("device_offline", { device }), proposal)
}
