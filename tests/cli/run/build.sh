# Builds main.c and answer.c by bin/pf-cc in the ways that build systems do, and runs what comes out.
set -eu
warnings="-Wall -Wextra -pedantic -Werror"
says() { shift; "$@" || echo "$NAME $?"; }

bin/pf-cc $warnings main.c answer.c -o together
NAME=together says run ./together
bin/pf-cc $warnings -c main.c -o main.o
bin/pf-cc $warnings -fPIC -c answer.c -o answer.o
bin/pf-cc $warnings main.o answer.o -o apart
NAME=apart says run ./apart
bin/pf-cc $warnings -shared answer.o -o libanswer.so -Wl,-z,defs -Wl,--no-undefined
bin/pf-cc $warnings main.o -L. -lanswer -Wl,-rpath,. -o shared
NAME=shared says run ./shared
readelf -d together | sed -nE 's/.*\(RUNPATH\).*\[(.*)\]/RUNPATH \1/p'
readelf -d together | sed -nE 's/.*\(NEEDED\).*\[(libphoto.*)\]/NEEDED \1/p'
nm answer.o | grep -q __tsan_write4 && echo instrumented
