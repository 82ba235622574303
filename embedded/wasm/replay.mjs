// node replay.mjs PROGRAM TRACES: prints what the program says about the traces; its exit code is the program's.
import { readFileSync } from "node:fs";

const [program, file] = process.argv.slice(2);
const traces = readFileSync(file);
let next = 0;
const lines = [];
const memory = () => instance.exports.memory.buffer;
const host = {
    read(to, length) {
        const piece = traces.subarray(next, next + length);
        new Uint8Array(memory(), to, piece.length).set(piece);
        next += piece.length;
        return piece.length;
    },
    line(from, length) {
        lines.push(Buffer.from(memory(), from, length).toString());
    },
};
const { instance } = await WebAssembly.instantiate(readFileSync(program), { host });
process.exitCode = instance.exports.run();
process.stdout.write(lines.map((line) => line + "\n").join(""));
