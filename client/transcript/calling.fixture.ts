/** An empty reply with one call, as streams and the API contain it. */
export const calling = (call: { readonly id: string; readonly name: string; readonly input: object }, at: string) => ({
  ...{ id: "msg_1", seq: 2, role: "assistant", content: "", toolCalls: [call], toolCallId: null, createdAt: at },
})
