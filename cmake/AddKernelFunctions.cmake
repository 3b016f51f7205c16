# add_kernel_functions(): to follow.
