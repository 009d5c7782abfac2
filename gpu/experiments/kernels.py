#!/usr/bin/env python3
"""Counts the textbook kernels (traces/kernels) on a GPU, for traces/hardware/ARCH/kernels/counters.csv.

    kernels.py build FOLDER [NVCC [OPTIONS...]]   a program for each launch, from the `// warpmem:` lines
    kernels.py count FOLDER                       runs each under Nsight Compute (ncu), prints counters.csv

A launch is measured as nvcc compiles it by default; L1 is cold (ncu's default cache control).
"""
import csv
import io
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
KERNELS = os.path.join(HERE, '..', '..', 'traces', 'kernels')
L1 = 'l1tex__'
COUNTERS = [
    ('ld_requests', L1 + 't_requests_pipe_lsu_mem_global_op_ld'),
    ('ld_sectors', L1 + 't_sectors_pipe_lsu_mem_global_op_ld'),
    ('ld_tag_wavefronts', L1 + 't_output_wavefronts_pipe_lsu_mem_global_op_ld'),
    ('st_requests', L1 + 't_requests_pipe_lsu_mem_global_op_st'),
    ('st_sectors', L1 + 't_sectors_pipe_lsu_mem_global_op_st'),
    ('st_tag_wavefronts', L1 + 't_output_wavefronts_pipe_lsu_mem_global_op_st'),
    ('red_requests', L1 + 't_requests_pipe_lsu_mem_global_op_red'),
    ('red_sectors', L1 + 't_sectors_pipe_lsu_mem_global_op_red'),
    ('shared_ld_wavefronts', L1 + 'data_pipe_lsu_wavefronts_mem_shared_op_ld'),
    ('shared_st_wavefronts', L1 + 'data_pipe_lsu_wavefronts_mem_shared_op_st'),
    ('shared_atom_wavefronts', L1 + 'data_pipe_lsu_wavefronts_mem_shared_op_atom'),
    ('shared_misc_wavefronts', L1 + 'data_pipe_lsu_wavefronts_mem_shared_op_misc'),
    ('bank_conflicts', L1 + 'data_bank_conflicts_pipe_lsu_mem_shared'),
    ('warps', 'smsp__warps_launched'),
]


def launches():
    """(file, number of the launch in it, options)"""
    for name in sorted(os.listdir(KERNELS)):
        if name.endswith('.cu'):
            with open(os.path.join(KERNELS, name)) as source:
                found = re.findall(r'^// warpmem: (.*)$', source.read(), re.M)
            for number, options in enumerate(found):
                yield name, number, options.split()


def options_of(words):
    kernel, grid, block, shared, arguments = '', '1', '1', '0', {}
    for key, value in zip(words[::2], words[1::2]):
        if key == '--kernel':
            kernel = value
        elif key == '--grid':
            grid = value
        elif key == '--block':
            block = value
        elif key == '--smem':
            shared = value
        elif key == '--arg':
            name, what = value.split('=', 1)
            arguments[name] = what
        else:
            sys.exit('option ' + key)
    return kernel, grid, block, shared, arguments


def parameters(source, kernel):
    base = kernel.split('<')[0]
    found = re.search(r'__global__\s+void\s+(?:__launch_bounds__\(\d+\)\s*)?' + base + r'\s*\(([^)]*)\)', source)
    return [part.strip() for part in found.group(1).split(',')]


FILL = {'': 'NOTHING', 'zero': 'ZERO', 'iota': 'IOTA'}


def argument(parameter, what):
    name = re.search(r'(\w+)$', parameter).group(1)
    kind = re.sub(r'\b(const|volatile|__restrict__)\b', '', parameter[:-len(name)]).strip()
    if not kind.endswith('*'):
        return f'    {kind} {name} = {what};\n', name
    kind = kind[:-1].strip()
    size = re.match(r'\w+\[(\d+)\](?::(.*))?$', what)
    fill = size.group(2) or ''
    if fill.startswith('random'):
        _, seed, limit = fill.split(':')
        return f'    {kind} *{name} = buffer<{kind}>({size.group(1)}, RANDOM, {seed}, {limit});\n', name
    return f'    {kind} *{name} = buffer<{kind}>({size.group(1)}, {FILL[fill]}, 0, 0);\n', name


HEAD = '''
#include <cstdio>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>
enum fill { NOTHING, ZERO, IOTA, RANDOM };
static void set(float &to, uint64_t value) { to = (float)value; }
static void set(int &to, uint64_t value) { to = (int)value; }
static void set(unsigned &to, uint64_t value) { to = (unsigned)value; }
template <typename T> static void set(T &to, uint64_t) { std::memset(&to, 0, sizeof to); }
// The numbers that warpmem fills buffers with (sim/kernel/memory.c).
static uint64_t mixed(uint64_t seed, uint64_t index)
{
    uint64_t z = (seed + 1) * 0xd1342543de82ef95u + (index + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}
template <typename T> static T *buffer(size_t n, fill how, uint64_t seed, uint64_t limit)
{
    std::vector<T> host(n);
    T *device = nullptr;
    for (size_t i = 0; i < n; i++)
        set(host[i], how == IOTA ? i : how == RANDOM ? mixed(seed, i) % limit : 0);
    if (cudaMalloc(&device, n * sizeof(T)) || cudaMemcpy(device, host.data(), n * sizeof(T), cudaMemcpyHostToDevice))
        std::exit(1);
    return device;
}
'''


def dimensions(text):
    return 'dim3(' + text + ')'


def build(folder, compiler):
    os.makedirs(folder, exist_ok=True)
    for name, number, words in launches():
        kernel, grid, block, shared, arguments = options_of(words)
        path = os.path.join(KERNELS, name)
        with open(path) as source:
            listed = parameters(source.read(), kernel)
        lines, names = '', []
        for parameter in listed:
            line, variable = argument(parameter, arguments[re.search(r'(\w+)$', parameter).group(1)])
            lines += line
            names.append(variable)
        program = os.path.join(folder, f'{name[:-3]}.{number}')
        with open(program + '.cu', 'w') as out:
            out.write(HEAD + f'#include "{os.path.abspath(path)}"\n\nint main()\n{{\n{lines}'
                      f'    {kernel}<<<{dimensions(grid)}, {dimensions(block)}, {shared}>>>({", ".join(names)});\n'
                      '    return cudaDeviceSynchronize() != cudaSuccess;\n}\n')
        subprocess.run(compiler + ['-o', program, program + '.cu'], check=True)


def count(folder):
    metrics = ','.join(metric + '.sum' for _, metric in COUNTERS)
    out = csv.writer(sys.stdout, lineterminator='\n')
    out.writerow(['kernel', 'launch'] + [name for name, _ in COUNTERS])
    for name, number, _ in launches():
        text = subprocess.run(['ncu', '--csv', '--page', 'raw', '--print-units', 'base', '--clock-control', 'none',
                               '--metrics', metrics, os.path.join(folder, f'{name[:-3]}.{number}')],
                              check=True, capture_output=True, text=True).stdout
        rows = list(csv.reader(io.StringIO('\n'.join(l for l in text.splitlines() if l.startswith('"')))))
        values = dict(zip(rows[0], rows[-1]))
        out.writerow([name, number] + [values[metric + '.sum'].replace(',', '') for _, metric in COUNTERS])
        sys.stdout.flush()


if __name__ == '__main__':
    if len(sys.argv) > 2 and sys.argv[1] == 'build':
        build(sys.argv[2], sys.argv[3:] or ['nvcc', '-arch=sm_90'])
    elif len(sys.argv) == 3 and sys.argv[1] == 'count':
        count(sys.argv[2])
    else:
        sys.exit(__doc__)
