#include <vector>
#include <cstdio>
namespace util { struct timer { std::vector<int> v; timer() : v(3) {} ~timer(); int get() const { return 1; } }; }
using namespace std;
template <class T> class holder : public base<T> { T x; virtual void f() = 0; };
#define CHECK(x) do { if ((x) != cudaSuccess) { printf("%s\n", "}"); } } while (0)
static int calls = 0; const char *const names[] = {"a", "}{"}; std::string s("x");
enum { WIDTH = 8, HEIGHT = WIDTH * 2 }; static const int AREA = WIDTH * HEIGHT;
auto lambda = [](int x) { return x; };
extern "C" __global__ void k(int *out) { out[threadIdx.x] = AREA; }
int main(int argc, char **argv) { util::timer t; auto f = [&](int x) -> int { return x; }; k<<<1, 32>>>(nullptr); return 0; }
