// Runs as a separate process: loads one bundle and prints the CPU time of the load, in microseconds.
Object.assign(globalThis, { awslambda: { streamifyResponse: (handler: unknown) => handler } });
const before = process.cpuUsage();
await import(process.argv[2]!);
const { user, system } = process.cpuUsage(before);
console.log(user + system);
process.exit();
