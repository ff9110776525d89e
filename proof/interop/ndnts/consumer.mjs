// A consumer on NDNts.
import { consume } from "@ndn/endpoint";
import { Forwarder } from "@ndn/fw";
import { Interest, Nack, Name, digestSigning } from "@ndn/packet";
import { fromUtf8 } from "@ndn/util";
import { BIG, NAMES, NOBODY, NO_ROUTE, PATIENCE_MS, expected } from "./contract.mjs";
import { uplink } from "./uplink.mjs";

const [, , prefix, ...checks] = process.argv;
const face = await uplink(["/"]);

function check(condition, what) {
  if (!condition) {
    throw new Error(what);
  }
}

async function fetch(last, count, { child, flags = [] } = {}) {
  const name = new Name(`${prefix}/${last}`);
  const interest = new Interest(name, Interest.Lifetime(4000), ...flags);
  const data = await consume(interest, { verifier: digestSigning });
  check(data.name.equals(child ? name.append(child) : name), `${data.name} came for ${name}`);
  const content = fromUtf8(data.content);
  check(content === expected(last, count),
    `${content.slice(0, 40)} in ${data.name}, not ${expected(last, count).slice(0, 40)}`);
}

// The logical forwarder of NDNts drops each Nack: it is seen on its way there.
async function nack(uri) {
  const name = new Name(uri);
  const nacked = new Promise((resolve) => {
    Forwarder.getDefault().addEventListener("pktrx", ({ packet: { l3 } }) => {
      if (l3 instanceof Nack && l3.interest.name.equals(name)) {
        resolve(l3.reason);
      }
    });
  });
  const expired = consume(new Interest(name, Interest.Lifetime(4000))).catch(() => undefined);
  return Promise.race([nacked, expired]);
}

async function silence(uri) {
  let came = true;
  await consume(new Interest(uri, Interest.Lifetime(PATIENCE_MS))).catch(() => { came = false; });
  check(!came, `Data came for ${uri}`);
}

const known = {
  async names() {
    await Promise.all(Array.from({ length: NAMES }, (_, last) => fetch(`${last}`, 1)));
    return `${NAMES} names`;
  },
  async big() {
    await fetch("big", 1);
    return `${BIG} octets`;
  },
  async leaf() {
    await fetch("tree", 1, { child: "leaf", flags: [Interest.CanBePrefix] });
    return "leaf";
  },
  async fresh() {
    const flags = [Interest.MustBeFresh];
    await fetch("fresh", 1, { flags });
    await fetch("fresh", 1, { flags });
    await fetch("stale", 1);
    await fetch("stale", 1);
    await fetch("stale", 2, { flags });
    return "fresh";
  },
  async nack() {
    const reason = await nack(NOBODY + prefix);
    check(reason === NO_ROUTE, `a Nack of reason ${reason}, not ${NO_ROUTE}`);
    return `Nack ${reason}`;
  },
  async timeout() {
    const start = performance.now();
    await silence(`${prefix}/silent`);
    const elapsed = performance.now() - start;
    // Timers of Node may end early by a rounded millisecond or two.
    check(elapsed >= PATIENCE_MS - 5 && elapsed < 10 * PATIENCE_MS, `a timeout after ${elapsed} ms`);
    return "timeout";
  },
};

const seen = [];
for (const asked of checks) {
  try {
    seen.push(await known[asked]());
  } catch (error) {
    console.error(`wrong: ${asked}: ${error.message}; before it: ${seen}`);
    process.exit(1);
  }
}
console.log(seen.join(", "));
face.close();
process.exit(0);
