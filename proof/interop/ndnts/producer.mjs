// A producer on NDNts.
import { produce } from "@ndn/endpoint";
import { Forwarder } from "@ndn/fw";
import { ControlResponse, enableNfdPrefixReg } from "@ndn/nfdmgmt";
import { Data, Name, digestSigning } from "@ndn/packet";
import { Decoder } from "@ndn/tlv";
import { toUtf8 } from "@ndn/util";
import { FRESH_MS, expected } from "./contract.mjs";
import { uplink } from "./uplink.mjs";

// NDNts registers without telling the application: the reply to its command passes here.
Forwarder.getDefault().addEventListener("pktrx", ({ packet: { l3 } }) => {
  if (!(l3 instanceof Data) || l3.name.get(3)?.text !== "register") {
    return;
  }
  const { statusCode, statusText } = Decoder.decode(l3.content, ControlResponse);
  const verdict = statusCode === 200 ? "ready" : "refused";
  console.log(`${verdict}: ${l3.name.getPrefix(4)} ${statusCode} ${statusText}`);
});

enableNfdPrefixReg(await uplink([]));
const given = new Map();
produce(new Name(process.argv[2]), async ({ name }) => {
  const last = name.at(-1).text;
  if (last === "silent") {
    return undefined;
  }
  const count = (given.get(last) ?? 0) + 1;
  given.set(last, count);
  const dataName = last === "tree" ? name.append("leaf") : name;
  const fresh = last === "stale" ? [] : [Data.FreshnessPeriod(FRESH_MS)];
  return new Data(dataName, toUtf8(expected(last, count)), ...fresh);
}, { dataSigner: digestSigning, concurrency: 64 });

process.stdin.resume().on("end", () => process.exit(0));
